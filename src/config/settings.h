/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the host side, in layers: the environment, the project's file
 * (.sandglass/config.json in the current directory), the user's config.json, that of
 * /etc/sandglass, a default. Nothing here may change what a guest observes; that is the contract's.
 *
 * A project's file comes with what was cloned, so it may not set what runs on the host; one that
 * belongs neither to the user nor to root is passed by.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

enum settings_layer {
	SETTINGS_ENVIRONMENT,
	SETTINGS_PROJECT,
	SETTINGS_USER,
	SETTINGS_SYSTEM,
	SETTINGS_DEFAULT,
	SETTINGS_LAYERS
};
/* "environment", "project" and so on. */
const char *settings_layer_name(enum settings_layer l);

/* The settings there are, in the order in which they are shown: a name, or NULL past the last. */
const char *settings_name(size_t i);

/*
 * 1 and *ret (caller frees) when a layer names the setting, or it has a default; 0 when none does.
 * *ret_layer (may be NULL) is the one it came from. A file that is not a JSON object of known
 * string settings is an error that names the file, and a value that is not one of those allowed an
 * error that names the setting, where it was set, and the values.
 */
MUST_CHECK int settings_find_layer(
	const char *name, char **ret, enum settings_layer *ret_layer, struct error *err);
MUST_CHECK int settings_find(const char *name, char **ret, struct error *err);

#endif
