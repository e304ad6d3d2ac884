/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the host side, in layers: see settings.h. */
#include "config/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "codec/json.h"
#include "config/paths.h"

enum { FILE_MAX = 64 * 1024 };

static const struct {
	const char *name, *variable;
} rows[] = {
	{"supervise", "SANDGLASS_SUPERVISE"}, /* path of the supervisor */
};

static int check_known(const json_t *file, struct error *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(file))
		return error_set(err, ERR_FORMAT, "not a JSON object");
	json_object_foreach((json_t *)(uintptr_t)file, key, value)
	{
		bool known = false;

		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			known = known || strcmp(rows[i].name, key) == 0;
		if (!known)
			return error_set(err, ERR_FORMAT, "unknown setting '%.64s'", key);
		if (!json_is_string(value))
			return error_set(err, ERR_FORMAT, "setting '%s' is not a string", key);
	}
	return 0;
}

/* 1 found, 0 no such file or no such key in it. */
static int find_in_file(const char *path, const char *name, char **ret, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	autofree char *text = NULL;
	auto_json json_t *file = NULL;
	const char *value;
	size_t len;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (fd < 0)
		return error_sys(err, "open '%s'", path);
	if (fd_slurp(fd, FILE_MAX, &text, &len, err) < 0 ||
		json_read(text, len, FILE_MAX, &file, err) < 0 || check_known(file, err) < 0)
		return error_wrap(err, "'%s'", path);
	value = json_string_value(json_object_get(file, name));
	if (!value)
		return 0;
	*ret = mem_strdup(value);
	return 1;
}

int settings_find(const char *name, char **ret, struct error *err)
{
	autofree char *dir = NULL, *path = NULL;
	int found = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value =
			strcmp(rows[i].name, name) == 0 ? getenv(rows[i].variable) : NULL;

		if (value && value[0]) {
			*ret = mem_strdup(value);
			return 1;
		}
	}
	if (paths_find(PATHS_CONFIG, &dir, NULL) == 0) {
		path = path_join(dir, "config.json");
		found = find_in_file(path, name, ret, err);
	}
	return found ? found : find_in_file("/etc/sandglass/config.json", name, ret, err);
}
