/* SPDX-License-Identifier: Apache-2.0 */
/* Where our files live: the XDG directories, or everything under SANDGLASS_HOME. */
#ifndef CONFIG_PATHS_H
#define CONFIG_PATHS_H

#include "base/attr.h"
#include "base/error.h"

enum paths_kind {
	PATHS_CONFIG, /* $XDG_CONFIG_HOME/sandglass, ~/.config/sandglass */
	PATHS_STATE,  /* $XDG_STATE_HOME/sandglass, ~/.local/state/sandglass */
	PATHS_CACHE,  /* $XDG_CACHE_HOME/sandglass, ~/.cache/sandglass */
};

/*
 * The absolute directory (caller frees), which may not exist yet. SANDGLASS_HOME gives its config,
 * state and cache. XDG values that are not absolute are ignored, as their specification says.
 * ERR_MISSING when there is no HOME either.
 */
MUST_CHECK int paths_find(enum paths_kind kind, char **ret, struct error *err);
/* That of PATHS_STATE, made when it is not there (caller frees); NULL when there can be none. */
char *paths_state(void);
/* The user's home directory, absolute and tidy (caller frees), or NULL. */
char *paths_home(void);

#endif
