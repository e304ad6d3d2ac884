/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows what the readers of packs make of what they are given: `pack_probe toml FILE...` and
 * `manifest FILE...` print a line of JSON each, `nfc` a digit for each line of standard input.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "pack/nfc.h"
#include "pack/pack.h"
#include "pack/toml.h"

static void show(json_t *value)
{
	autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	puts(text ? text : "null");
	json_decref(value);
}

static json_t *read_toml(const char *text, size_t len)
{
	struct error err;
	json_t *value = NULL;

	if (toml_parse(text, len, &value, &err) < 0)
		return json_pack("{s:s}", "error", err.msg);
	return json_pack("{s:o}", "value", value);
}

static json_t *read_manifest(const char *text, size_t len)
{
	auto_faults struct faults f = {0};
	auto_json json_t *value = NULL;
	json_t *list = json_array();

	pack_manifest_read(text, len, &value, &f);
	for (size_t i = 0; i < f.count; i++)
		json_add(list, json_str(f.items[i]));
	return list;
}

static int each_line(void)
{
	char line[65536];

	while (fgets(line, sizeof(line), stdin)) {
		size_t len = strcspn(line, "\n");

		putchar(nfc_is(line, len) ? '1' : '0');
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "nfc") == 0)
		return each_line();
	for (int i = 2; i < argc; i++) {
		autoclose int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		autofree char *text = NULL;
		struct error err;
		size_t len;

		if (fd < 0 || fd_slurp(fd, 1 << 20, &text, &len, &err) < 0)
			return 1;
		show(strcmp(argv[1], "toml") == 0 ? read_toml(text, len)
						  : read_manifest(text, len));
	}
	return 0;
}
