/* SPDX-License-Identifier: Apache-2.0 */
/* What runs of a pack: see pack_code_find. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "pack/pack.h"

void pack_code_finish(struct pack_code *c)
{
	for (char **p = c->exec; p && *p; p++)
		free(*p);
	free(c->exec);
	free(c->library);
	*c = (struct pack_code){0};
}

/* A path of a pack is one of the bundle's, letter by letter: so it cannot lead out of it. */
static void check_is_in(const struct bundle *b, const char *path, struct faults *faults)
{
	if (!bundle_has(b, path))
		faults_add(faults,
			"[code] names '%s', which is no file of the bundle (paths begin at its "
			"root, hidden "
			"files are not in it)",
			path);
}

static void take_exec(
	const json_t *list, const struct bundle *b, struct pack_code *ret, struct faults *faults)
{
	size_t i, count = json_array_size(list);
	const json_t *word;

	if (!count) {
		faults_add(faults, "code.exec has to be a list of strings, one at least");
		return;
	}
	ret->exec = mem_array(count + 1, sizeof(*ret->exec));
	json_array_foreach(list, i, word)
	{
		if (!json_is_string(word) ||
			strlen(json_string_value(word)) != json_string_length(word) ||
			(i == 0 && !json_string_length(word))) {
			faults_add(faults, "code.exec has to be a list of strings, one at least");
			return;
		}
		ret->exec[i] = mem_strdup(json_string_value(word));
	}
	if (str_has_prefix(ret->exec[0], "./"))
		check_is_in(b, ret->exec[0] + 2, faults);
}

/* Without [code]: what a file is called says how it is run. */
static void take_default(const struct bundle *b, struct pack_code *ret, struct faults *faults)
{
	static const struct {
		const char *file, *with;
	} rows[] = {{"main", NULL}, {"main.sh", "sh"}, {"main.py", "python3"}, {"main.js", "node"}};

	if (bundle_has(b, "pack.so")) {
		ret->library = mem_strdup("pack.so");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = 0;

		if (!bundle_has(b, rows[i].file))
			continue;
		ret->exec = mem_array(3, sizeof(*ret->exec));
		if (rows[i].with)
			ret->exec[n++] = mem_strdup(rows[i].with);
		ret->exec[n] = str_format("./%s", rows[i].file);
		return;
	}
	faults_add(faults,
		"no code: neither [code] in manifest.toml nor a file pack.so, main, main.sh, "
		"main.py or main.js");
}

void pack_code_find(const json_t *manifest, const struct bundle *b, struct pack_code *ret,
	struct faults *faults)
{
	const json_t *code = json_object_get(manifest, "code"), *exec, *library;

	if (!code) {
		take_default(b, ret, faults);
		return;
	}
	exec = json_object_get(code, "exec");
	library = json_object_get(code, "library");
	if (!exec == !library) {
		faults_add(faults, "[code] has to have one of exec and library");
		return;
	}
	if (exec) {
		take_exec(exec, b, ret, faults);
		return;
	}
	if (!json_is_string(library)) {
		faults_add(faults, "code.library has to be a string");
		return;
	}
	ret->library = mem_strdup(json_string_value(library));
	check_is_in(b, ret->library, faults);
}
