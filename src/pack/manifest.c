/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.toml, key by key: see pack.h. */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/beneath.h"
#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "pack/pack.h"
#include "pack/toml.h"

/* PEP 440, without regard to case: its appendix B. */
#define VERSION \
	"v?([0-9]+!)?[0-9]+(\\.[0-9]+)*([-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?[0-9]*)?" \
	"(-[0-9]+|[-_.]?(post|rev|r)[-_.]?[0-9]*)?([-_.]?dev[-_.]?[0-9]*)?" \
	"(\\+[a-z0-9]+([-_.][a-z0-9]+)*)?"
#define BLANKS "[ \t]*"
#define CLAUSE \
	BLANKS "(===" BLANKS "[^], \t;)]+|(==|!=)" BLANKS VERSION \
	       "(\\.\\*)?|(~=|<=|>=|<|>)" BLANKS VERSION ")" BLANKS

enum pattern { PATTERN_NAME, PATTERN_VERSION, PATTERN_SPECIFIERS, PATTERNS };

static bool matches(enum pattern p, const char *text)
{
	static const struct {
		const char *text;
		int flags;
	} rows[PATTERNS] = {
		[PATTERN_NAME] = {"^[a-z][a-z0-9_]{1,63}$", 0},
		[PATTERN_VERSION] = {"^" BLANKS VERSION BLANKS "$", REG_ICASE},
		[PATTERN_SPECIFIERS] = {"^" CLAUSE "(," CLAUSE ")*$", REG_ICASE},
	};
	enum { TEXT_MAX = 1000 }; /* the engine is slow with more, and no version has it */
	regex_t re;
	bool is;

	if (strlen(text) > TEXT_MAX ||
		regcomp(&re, rows[p].text, REG_EXTENDED | REG_NOSUB | rows[p].flags) != 0)
		return false;
	is = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return is;
}

/* A table of the manifest and what it is called in messages. */
struct table {
	const json_t *at;
	const char *name;
	struct faults *faults;
};

/* A string, NULL when it is absent or wrong; absent is a fault when it is needed. */
static const char *text_of(const struct table *t, const char *key, bool is_needed)
{
	const json_t *v = json_object_get(t->at, key);

	if (json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v))
		return json_string_value(v);
	if (v)
		faults_add(t->faults, "%s.%s has to be a string", t->name, key);
	else if (is_needed)
		faults_add(t->faults, "%s.%s is missing", t->name, key);
	return NULL;
}

static void check_strings(const struct table *t, const char *key)
{
	const json_t *v = json_object_get(t->at, key), *item;
	size_t i;

	if (!v)
		return;
	if (!json_is_array(v)) {
		faults_add(t->faults, "%s.%s has to be a list of strings", t->name, key);
		return;
	}
	json_array_foreach(v, i, item) if (!json_is_string(item))
	{
		faults_add(t->faults, "%s.%s has to be a list of strings", t->name, key);
		return;
	}
}

static void check_one_of(
	const struct table *t, const char *key, bool is_needed, const char *const *words)
{
	const char *v = text_of(t, key, is_needed);
	auto_bytes struct bytes all = {0};

	if (!v)
		return;
	for (size_t i = 0; words[i]; i++) {
		if (strcmp(v, words[i]) == 0)
			return;
		if (i)
			bytes_put(&all, ", ", 2);
		bytes_put(&all, words[i], strlen(words[i]));
	}
	bytes_put_u8(&all, 0);
	faults_add(t->faults, "%s.%s is '%s'; it has to be one of %s", t->name, key, v,
		(const char *)all.data);
}

static void check_specifiers(const struct table *t, const char *key, bool is_needed)
{
	const char *v = text_of(t, key, is_needed);

	if (v && !matches(PATTERN_SPECIFIERS, v))
		faults_add(t->faults, "%s.%s is '%s': no set of PEP 440 version specifiers",
			t->name, key, v);
}

/* The table of a key, which is needed. */
static struct table sub_table(
	const json_t *at, const char *key, const char *name, struct faults *faults)
{
	const json_t *v = json_object_get(at, key);

	if (!v)
		faults_add(faults, "[%s] is missing", name);
	else if (!json_is_object(v))
		faults_add(faults, "[%s] has to be a table", name);
	return (struct table){json_is_object(v) ? v : NULL, name, faults};
}

static void check_pack(const json_t *root, struct faults *faults)
{
	static const char *const authors[] = {"human", "agent", NULL};
	struct table pack = sub_table(root, "pack", "pack", faults), t;
	const char *v;

	if (!pack.at)
		return;
	v = text_of(&pack, "name", true);
	if (v && !matches(PATTERN_NAME, v))
		faults_add(faults,
			"pack.name is '%s'; it has to be 2 to 64 of a-z, 0-9 and _, a letter first",
			v);
	v = text_of(&pack, "version", true);
	if (v && !matches(PATTERN_VERSION, v))
		faults_add(faults, "pack.version is '%s': no PEP 440 version", v);
	v = text_of(&pack, "description", true);
	if (v && !v[0])
		faults_add(faults, "pack.description is empty");
	(void)text_of(&pack, "license", true);
	t = sub_table(pack.at, "provenance", "pack.provenance", faults);
	if (t.at)
		check_one_of(&t, "authored_by", true, authors);
	t = sub_table(pack.at, "integrity", "pack.integrity", faults);
	if (!t.at)
		return;
	v = text_of(&t, "content_hash", true);
	if (v && !bundle_is_pin(v))
		faults_add(faults,
			"pack.integrity.content_hash is '%s'; it has to be sha256: and 64 "
			"lowercase hex "
			"digits, as 'sandglass pack hash' prints",
			v);
	v = text_of(&t, "signature", false);
	if (v && v[0])
		faults_add(faults, "pack.integrity.signature is reserved and has to be empty: "
				   "nobody would check it");
}

static void check_dependencies(const json_t *root, struct faults *faults)
{
	static const char *const kinds[] = {"packs", "optional-packs"};
	struct table t = sub_table(root, "dependencies", "dependencies", faults);

	if (!t.at)
		return;
	check_specifiers(&t, "activegraph", true);
	check_specifiers(&t, "python", false);
	check_strings(&t, "python-deps");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const json_t *packs = json_object_get(t.at, kinds[i]);
		autofree char *name = str_format("dependencies.%s", kinds[i]);
		struct table in = {packs, name, faults};

		if (packs && !json_is_object(packs)) {
			faults_add(faults, "[%s] has to be a table", name);
			continue;
		}
		for (void *p = packs ? json_object_iter(json_object_get(t.at, kinds[i])) : NULL; p;
			p = json_object_iter_next(json_object_get(t.at, kinds[i]), p))
			check_specifiers(&in, json_object_iter_key(p), true);
	}
}

static void check_capabilities(const struct table *surface)
{
	static const char *const risks[] = {"low", "medium", "high", "critical", NULL};
	static const char *const actions[] = {"R0", "R1", "R2", "R3", "R4", NULL};
	const json_t *list = json_object_get(surface->at, "capabilities"), *item;
	size_t i;

	if (list && !json_is_array(list))
		faults_add(surface->faults, "surface.capabilities has to be an array of tables");
	json_array_foreach(list, i, item)
	{
		autofree char *name = str_format("surface.capabilities[%zu]", i);
		struct table t = {item, name, surface->faults};

		if (!json_is_object(item)) {
			faults_add(surface->faults, "%s has to be a table", name);
			continue;
		}
		(void)text_of(&t, "provider", true);
		(void)text_of(&t, "capability", true);
		(void)text_of(&t, "credential_ref", true);
		check_one_of(&t, "risk_class", true, risks);
		check_one_of(&t, "action_class", false, actions);
	}
}

static void check_surface(const json_t *root, struct faults *faults)
{
	static const char *const lists[] = {
		"object_types", "relation_types", "behaviors", "tools", "consumes"};
	struct table t = sub_table(root, "surface", "surface", faults);

	if (!t.at)
		return;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		check_strings(&t, lists[i]);
	(void)text_of(&t, "settings_schema", false);
	check_capabilities(&t);
}

static void check_fixtures(const json_t *root, struct faults *faults)
{
	struct table t = sub_table(root, "fixtures", "fixtures", faults);
	const json_t *v;
	const char *entry;

	if (!t.at)
		return;
	entry = text_of(&t, "entrypoint", true);
	if (entry && !entry[0])
		faults_add(faults, "fixtures.entrypoint is empty");
	v = json_object_get(t.at, "deterministic");
	if (!v)
		faults_add(faults, "fixtures.deterministic is missing");
	else if (!json_is_boolean(v))
		faults_add(faults, "fixtures.deterministic has to be true or false");
}

void pack_manifest_read(const char *text, size_t len, json_t **ret, struct faults *faults)
{
	struct error err;

	if (toml_parse(text, len, ret, &err) < 0) {
		faults_add(faults, "manifest.toml: %s", err.msg);
		return;
	}
	check_pack(*ret, faults);
	check_dependencies(*ret, faults);
	check_surface(*ret, faults);
	check_fixtures(*ret, faults);
}

int pack_manifest_load(int dir, json_t **ret, struct faults *faults, struct error *err)
{
	autoclose int fd = -1;
	autofree char *text = NULL;
	struct stat st;
	size_t len;

	fd = beneath_open_file(dir, "manifest.toml", &st);
	if (fd < 0) {
		faults_add(faults, "manifest.toml: %s",
			errno == ENOENT ? "there is none" : strerror(errno));
		return 0;
	}
	if (fd_slurp(fd, TOML_MAX, &text, &len, err) < 0) {
		if (err->code != ERR_LIMIT)
			return error_wrap(err, "manifest.toml");
		faults_add(faults, "manifest.toml: more than %d bytes", TOML_MAX);
		return 0;
	}
	pack_manifest_read(text, len, ret, faults);
	return 0;
}
