/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the host side, in layers: see settings.h. */
#include "config/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "codec/json.h"
#include "config/paths.h"

enum { FILE_MAX = 64 * 1024, VALUES_MAX = 4 };

static const struct row {
	const char *name, *variable;
	const char *value;  /* the default, or NULL */
	bool is_of_project; /* a project's file may set it */
	const char *allowed[VALUES_MAX + 1];
} rows[] = {
	/* Path of the supervisor. */
	{"supervise", "SANDGLASS_SUPERVISE", NULL, false, {NULL}},
	{"docker", "SANDGLASS_DOCKER", NULL, false, {NULL}},
	{"podman", "SANDGLASS_PODMAN", NULL, false, {NULL}},
	{"nerdctl", "SANDGLASS_NERDCTL", NULL, false, {NULL}},
	/* What the host itself is said to run in, and by what one can tell: recorded, not believed.
	 */
	{"host_isolation_tier", "SANDGLASS_HOST_ISOLATION_TIER", "none", true,
		{"none", "process", "container", "vm"}},
	{"host_isolation_evidence", "SANDGLASS_HOST_ISOLATION_EVIDENCE", "", true, {NULL}},
};

static const char *const layers[SETTINGS_LAYERS] = {
	"environment", "project", "user", "system", "default"};

const char *settings_layer_name(enum settings_layer l)
{
	return layers[l];
}

const char *settings_name(size_t i)
{
	return i < ARRAY_LEN(rows) ? rows[i].name : NULL;
}

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static int check_known(const json_t *file, bool is_project, struct error *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(file))
		return error_set(err, ERR_FORMAT, "not a JSON object");
	json_object_foreach((json_t *)(uintptr_t)file, key, value)
	{
		const struct row *row = find_row(key);

		if (!row)
			return error_set(err, ERR_FORMAT, "unknown setting '%.64s'", key);
		if (!json_is_string(value))
			return error_set(err, ERR_FORMAT, "setting '%s' is not a string", key);
		if (is_project && !row->is_of_project)
			return error_set(err, ERR_FORMAT,
				"'%s' is not for a project to set: the user's config.json or %s "
				"may",
				key, row->variable);
	}
	return 0;
}

/* 1 found, 0 no such file or no such key in it. */
static int find_in_file(
	const char *path, bool is_project, const char *name, char **ret, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	autofree char *text = NULL;
	auto_json json_t *file = NULL;
	const char *value;
	struct stat st;
	size_t len;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (fd < 0)
		return error_sys(err, "open '%s'", path);
	/* In a directory such as /tmp anybody can put one in our way. */
	if (is_project && (fstat(fd, &st) < 0 || (st.st_uid != geteuid() && st.st_uid != 0)))
		return 0;
	if (fd_slurp(fd, FILE_MAX, &text, &len, err) < 0 ||
		json_read(text, len, FILE_MAX, &file, err) < 0 ||
		check_known(file, is_project, err) < 0)
		return error_wrap(err, "'%s'", path);
	value = json_string_value(json_object_get(file, name));
	if (!value)
		return 0;
	*ret = mem_strdup(value);
	return 1;
}

/* The first layer that has it: 1, 0 or -1. */
static int find_raw(
	const struct row *row, char **ret, enum settings_layer *ret_layer, struct error *err)
{
	const char *value = getenv(row->variable);
	autofree char *dir = NULL, *user = NULL;
	int found = value && value[0] ? 1 : 0;

	*ret_layer = SETTINGS_ENVIRONMENT;
	if (found) {
		*ret = mem_strdup(value);
		return 1;
	}
	if (row->is_of_project) {
		*ret_layer = SETTINGS_PROJECT;
		found = find_in_file(".sandglass/config.json", true, row->name, ret, err);
	}
	if (found == 0 && paths_find(PATHS_CONFIG, &dir, NULL) == 0) {
		*ret_layer = SETTINGS_USER;
		user = path_join(dir, "config.json");
		found = find_in_file(user, false, row->name, ret, err);
	}
	if (found == 0) {
		*ret_layer = SETTINGS_SYSTEM;
		found = find_in_file("/etc/sandglass/config.json", false, row->name, ret, err);
	}
	if (found == 0 && row->value) {
		*ret_layer = SETTINGS_DEFAULT;
		*ret = mem_strdup(row->value);
		found = 1;
	}
	return found;
}

/* Blanks around it and capitals do not count; what is left has to be one of those allowed. */
static int check_value(
	const struct row *row, enum settings_layer layer, char **value, struct error *err)
{
	static const char blank[] = " \t\r\n";
	const char *start = *value + strspn(*value, blank);
	size_t len = strlen(start);
	autofree char *word = NULL, *safe = NULL;

	if (!row->allowed[0])
		return 0;
	while (len > 0 && strchr(blank, start[len - 1]))
		len--;
	word = mem_strndup(start, len);
	for (char *p = word; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	for (int i = 0; row->allowed[i]; i++)
		if (strcmp(word, row->allowed[i]) == 0) {
			free(*value);
			*value = take_ptr(word);
			return 0;
		}
	safe = str_printable(*value, strlen(*value), 60);
	return error_set(err, ERR_USAGE,
		"%s '%s' (%s): it has to be none, process, container or vm",
		layer == SETTINGS_ENVIRONMENT ? row->variable : row->name, safe, layers[layer]);
}

int settings_find_layer(
	const char *name, char **ret, enum settings_layer *ret_layer, struct error *err)
{
	const struct row *row = find_row(name);
	autofree char *value = NULL;
	enum settings_layer layer;
	int found = row ? find_raw(row, &value, &layer, err) : 0;

	if (found <= 0)
		return found;
	if (check_value(row, layer, &value, err) < 0)
		return -1;
	*ret = take_ptr(value);
	if (ret_layer)
		*ret_layer = layer;
	return 1;
}

int settings_find(const char *name, char **ret, struct error *err)
{
	return settings_find_layer(name, ret, NULL, err);
}
