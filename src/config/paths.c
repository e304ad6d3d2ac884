/* SPDX-License-Identifier: Apache-2.0 */
/* Where our files live: see paths.h. */
#include "config/paths.h"

#include <stdlib.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/path.h"

static const struct {
	const char *variable, *below_home, *name;
} rows[] = {
	[PATHS_CONFIG] = {"XDG_CONFIG_HOME", ".config/sandglass", "config"},
	[PATHS_STATE] = {"XDG_STATE_HOME", ".local/state/sandglass", "state"},
	[PATHS_CACHE] = {"XDG_CACHE_HOME", ".cache/sandglass", "cache"},
};

char *paths_home(void)
{
	const char *home = getenv("HOME");

	return home && home[0] == '/' ? path_tidy(home) : NULL;
}

int paths_find(enum paths_kind kind, char **ret, struct error *err)
{
	const char *own = getenv("SANDGLASS_HOME"), *xdg = getenv(rows[kind].variable);
	autofree char *home = paths_home();

	if (own && own[0] == '/')
		*ret = path_join(own, rows[kind].name);
	else if (own && own[0])
		return error_set(
			err, ERR_USAGE, "SANDGLASS_HOME '%s' is not an absolute path", own);
	else if (xdg && xdg[0] == '/')
		*ret = path_join(xdg, "sandglass");
	else if (home)
		*ret = path_join(home, rows[kind].below_home);
	else
		return error_set(err, ERR_MISSING, "neither SANDGLASS_HOME nor HOME is set");
	return 0;
}

char *paths_state(void)
{
	autofree char *state = NULL;
	struct error none;

	return paths_find(PATHS_STATE, &state, &none) < 0 || dir_make(state, &none) < 0
		       ? NULL
		       : take_ptr(state);
}
