/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace manifest: see manifest.h and docs/format/manifest. */
#include "sandbox/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "codec/json.h"
#include "sandbox/sandbox.h"

enum {
	FILES_MAX = 65536,
	LIST_MAX = 4096,
	NAME_MAX_BYTES = 4095,
	MODE_FILE = 0644,
	PIDS_MAX = 4194304
};
#define SECONDS_MAX UINT64_C(31536000)

struct parsing {
	struct manifest *m;
	const char *base;
	struct error *err;
};

/* One key of an object. */
struct key {
	const char *name;
	int (*take)(struct parsing *p, const json_t *value, void *at);
};

void manifest_init(struct manifest *m)
{
	*m = (struct manifest){
		.root = mem_strdup("/workspace"), .timeout_seconds = MANIFEST_TIMEOUT_SECONDS};
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void manifest_finish(struct manifest *m)
{
	free(m->root);
	free(m->repo.src_path);
	free(m->repo.branch);
	free_list(m->repo.sparse_paths);
	free_list(m->env);
	for (size_t i = 0; i < m->file_count; i++) {
		free(m->files[i].path);
		free(m->files[i].content);
		free(m->files[i].source);
	}
	free(m->files);
	free(m->options);
	*m = (struct manifest){0};
}

static int wrong(struct parsing *p, const char *what)
{
	return error_set(p->err, ERR_FORMAT, "%s", what);
}

static int take_string(struct parsing *p, const json_t *value, char **at)
{
	const char *text = json_string_value(value);

	if (!text || !text[0] || strlen(text) != json_string_length(value))
		return wrong(p, "not a string with something in it");
	if (strlen(text) > NAME_MAX_BYTES)
		return error_set(p->err, ERR_LIMIT, "longer than %d bytes", NAME_MAX_BYTES);
	free(*at);
	*at = mem_strdup(text);
	return 0;
}

static int take_number(struct parsing *p, const json_t *value, uint64_t max, uint64_t *at)
{
	if (!json_is_integer(value) || json_integer_value(value) < 1 ||
		(uint64_t)json_integer_value(value) > max)
		return error_set(p->err, ERR_FORMAT, "not a whole number from 1 to %llu",
			(unsigned long long)max);
	*at = (uint64_t)json_integer_value(value);
	return 0;
}

/* Gives every key of an object to its row; a key without one is told. */
static int take_object(struct parsing *p, const json_t *value, const struct key *keys, void *at)
{
	const char *name;
	json_t *item;

	if (!json_is_object(value))
		return wrong(p, "not an object");
	json_object_foreach((json_t *)(uintptr_t)value, name, item)
	{
		const struct key *k = keys;

		while (k->name && strcmp(k->name, name) != 0)
			k++;
		if (!k->name) {
			autofree char *safe = str_printable(name, strlen(name), 60);

			return error_set(p->err, ERR_FORMAT, "unknown key '%s'", safe);
		}
		if (k->take(p, item, at) < 0)
			return error_wrap(p->err, "%s", k->name);
	}
	return 0;
}

static int take_root(struct parsing *p, const json_t *value, void *unused)
{
	/* The last ones are the host's programs, shown read-only, and what they are told. */
	static const struct {
		const char *dir, *whose;
	} taken[] = {{"/proc", "kernel's"}, {"/sys", "kernel's"}, {"/dev", "kernel's"},
		{"/usr", "programs'"}, {"/bin", "programs'"}, {"/sbin", "programs'"},
		{"/lib", "programs'"}, {"/lib32", "programs'"}, {"/lib64", "programs'"},
		{"/libx32", "programs'"}, {"/libo32", "programs'"}, {"/etc", "programs'"}};
	autofree char *given = NULL;

	(void)unused;
	if (take_string(p, value, &given) < 0)
		return -1;
	free(p->m->root);
	p->m->root = path_tidy(given);
	if (given[0] != '/' || strcmp(p->m->root, "/") == 0)
		return wrong(p, "not an absolute path below /");
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (path_is_in(p->m->root, taken[i].dir))
			return error_set(
				p->err, ERR_FORMAT, "%s is the %s", taken[i].dir, taken[i].whose);
	return 0;
}

static int take_requires(struct parsing *p, const json_t *value, void *unused)
{
	(void)unused;
	if (!json_is_array(value))
		return wrong(p, "not an array of capabilities");
	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *name = json_string_value(json_array_get(value, i));
		unsigned bit = name ? sandbox_capability_find(name) : 0;

		if (!bit)
			return error_set(p->err, ERR_FORMAT, "'%.60s' is no capability",
				name ? name : "(not a string)");
		p->m->requires |= bit;
	}
	return 0;
}

static int take_src_path(struct parsing *p, const json_t *value, void *at)
{
	autofree char *given = NULL;

	(void)at;
	if (take_string(p, value, &given) < 0)
		return -1;
	free(p->m->repo.src_path);
	p->m->repo.src_path = path_join(p->base, given);
	return 0;
}

static int take_branch(struct parsing *p, const json_t *value, void *at)
{
	(void)at;
	return take_string(p, value, &p->m->repo.branch);
}

static int take_sparse(struct parsing *p, const json_t *value, void *at)
{
	size_t count = json_array_size(value);

	(void)at;
	if (!json_is_array(value) || count > LIST_MAX)
		return wrong(p, "not an array of at most 4096 paths");
	free_list(p->m->repo.sparse_paths);
	p->m->repo.sparse_paths = mem_array(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++)
		if (take_string(p, json_array_get(value, i), &p->m->repo.sparse_paths[i]) < 0)
			return error_wrap(p->err, "[%zu]", i);
	return 0;
}

static int take_trust(struct parsing *p, const json_t *value, void *at)
{
	(void)at;
	if (!json_is_boolean(value))
		return wrong(p, "neither true nor false");
	p->m->repo.trusted = json_is_true(value);
	return 0;
}

static int take_repo(struct parsing *p, const json_t *value, void *unused)
{
	static const struct key keys[] = {{"src_path", take_src_path}, {"branch", take_branch},
		{"sparse_paths", take_sparse}, {"trust", take_trust}, {0}};

	(void)unused;
	if (take_object(p, value, keys, NULL) < 0)
		return -1;
	return p->m->repo.src_path ? 0 : wrong(p, "src_path is missing");
}

static int take_path(struct parsing *p, const json_t *value, void *at)
{
	return take_string(p, value, &((struct manifest_file *)at)->path);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int take_hex(struct parsing *p, const char *hex, struct manifest_file *f)
{
	size_t len = strlen(hex);

	if (len % 2)
		return wrong(p, "hex with an odd number of digits");
	f->content = mem_alloc(len / 2 + 1);
	f->content_len = len / 2;
	for (size_t i = 0; i < len; i++) {
		int digit = hex_digit(hex[i]);

		if (digit < 0)
			return wrong(p, "hex with another character than 0-9 and a-f");
		f->content[i / 2] = (char)((unsigned char)f->content[i / 2] << 4 | digit);
	}
	return 0;
}

/* A string, or {"hex": "..."} for bytes that are no text. */
static int take_content(struct parsing *p, const json_t *value, void *at)
{
	struct manifest_file *f = at;
	const char *hex = json_string_value(json_object_get(value, "hex"));

	if (json_is_object(value) && hex && json_object_size(value) == 1)
		return take_hex(p, hex, f);
	if (!json_is_string(value))
		return wrong(p, "neither a string nor {\"hex\": \"...\"}");
	f->content_len = json_string_length(value);
	f->content = mem_dup(json_string_value(value), f->content_len + 1);
	return 0;
}

static int take_source(struct parsing *p, const json_t *value, void *at)
{
	struct manifest_file *f = at;
	autofree char *given = NULL;

	if (take_string(p, value, &given) < 0)
		return -1;
	f->source = path_join(p->base, given);
	return 0;
}

/* "0644", as chmod takes it. */
static int take_mode(struct parsing *p, const json_t *value, void *at)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) != json_string_length(value) ||
		num_parse_mode(text, &((struct manifest_file *)at)->mode, p->err) < 0)
		return wrong(p, "not a string of octal digits, like \"0644\"");
	return 0;
}

static int take_files(struct parsing *p, const json_t *value, void *unused)
{
	static const struct key keys[] = {{"path", take_path}, {"content", take_content},
		{"source", take_source}, {"mode", take_mode}, {0}};
	size_t count = json_array_size(value);

	(void)unused;
	if (!json_is_array(value) || count > FILES_MAX)
		return wrong(p, "not an array of at most 65536 files");
	p->m->files = mem_array(count, sizeof(*p->m->files));
	for (size_t i = 0; i < count; i++) {
		struct manifest_file *f = &p->m->files[p->m->file_count++];

		f->mode = MODE_FILE;
		if (take_object(p, json_array_get(value, i), keys, f) < 0)
			return error_wrap(p->err, "[%zu]", i);
		if (!f->path || !f->content == !f->source)
			return error_set(p->err, ERR_FORMAT,
				"[%zu]: needs path and either content or source", i);
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x, y);
}

static int take_env(struct parsing *p, const json_t *value, void *unused)
{
	size_t count = json_object_size(value), n = 0;
	const char *name;
	json_t *item;

	(void)unused;
	if (!json_is_object(value) || count > LIST_MAX)
		return wrong(p, "not an object of at most 4096 variables");
	p->m->env = mem_array(count + 1, sizeof(char *));
	json_object_foreach((json_t *)(uintptr_t)value, name, item)
	{
		const char *text = json_string_value(item);

		if (!name[0] || strchr(name, '=') || !text ||
			strlen(text) != json_string_length(item))
			return error_set(
				p->err, ERR_FORMAT, "'%.60s' is not a name with a string", name);
		p->m->env[n++] = str_format("%s=%s", name, text);
	}
	qsort(p->m->env, n, sizeof(char *), compare_entries);
	return 0;
}

static int take_timeout(struct parsing *p, const json_t *value, void *unused)
{
	(void)unused;
	return take_number(p, value, SECONDS_MAX, &p->m->timeout_seconds);
}

static int take_memory(struct parsing *p, const json_t *value, void *unused)
{
	const char *text = json_string_value(value);

	(void)unused;
	if (text)
		return num_parse_size(text, &p->m->memory_bytes, p->err);
	return take_number(p, value, INT64_MAX, &p->m->memory_bytes);
}

static int take_pids(struct parsing *p, const json_t *value, void *unused)
{
	(void)unused;
	return take_number(p, value, PIDS_MAX, &p->m->pids);
}

static int take_network(struct parsing *p, const json_t *value, void *unused)
{
	const char *text = json_string_value(value);

	(void)unused;
	if (!text || (strcmp(text, "none") != 0 && strcmp(text, "host") != 0))
		return wrong(p, "neither \"none\" nor \"host\"");
	p->m->network = strcmp(text, "host") == 0;
	return 0;
}

/* Which there are is the backend's to say: sandbox_check. */
static int take_options(struct parsing *p, const json_t *value, void *unused)
{
	(void)unused;
	if (!json_is_object(value))
		return wrong(p, "not an object");
	free(p->m->options);
	p->m->options = json_object_size(value) ? json_text(value) : NULL;
	return 0;
}

int manifest_parse(
	const char *text, size_t len, const char *base, struct manifest *ret, struct error *err)
{
	static const struct key keys[] = {{"root", take_root}, {"requires", take_requires},
		{"repo", take_repo}, {"files", take_files}, {"env", take_env},
		{"timeout_seconds", take_timeout}, {"memory", take_memory}, {"pids", take_pids},
		{"network", take_network}, {"options", take_options}, {0}};
	auto_json json_t *value = NULL;
	auto_manifest struct manifest m;
	struct parsing p = {&m, base, err};

	manifest_init(&m);
	if (json_read(text, len, MANIFEST_TEXT_MAX, &value, err) < 0 ||
		take_object(&p, value, keys, NULL) < 0)
		return error_wrap(err, "manifest");
	if (m.network)
	m.requires |= SANDBOX_NETWORK;
	*ret = m;
	m = (struct manifest){0};
	return 0;
}

char *manifest_kept(const struct manifest *m)
{
	auto_json json_t *value = json_object();
	json_t *env = json_object();

	for (size_t i = 0; m->env && m->env[i]; i++) {
		const char *equals = strchr(m->env[i], '=');
		autofree char *name = mem_strndup(m->env[i], (size_t)(equals - m->env[i]));

		json_put(env, name, json_str(equals + 1));
	}
	json_put(value, "root", json_str(m->root));
	json_put(value, "env", env);
	json_put(value, "timeout_seconds", json_u64(m->timeout_seconds));
	json_put(value, "network", json_str(m->network ? "host" : "none"));
	if (m->memory_bytes)
		json_put(value, "memory", json_u64(m->memory_bytes));
	if (m->pids)
		json_put(value, "pids", json_u64(m->pids));
	if (m->options) {
		auto_json json_t *options = NULL;
		struct error never;

		if (json_read(m->options, strlen(m->options), MANIFEST_TEXT_MAX, &options,
			    &never) == 0)
			json_put(value, "options", json_incref(options));
	}
	return json_text(value);
}
