/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the host side, in layers: the environment, then config.json of the user, then
 * /etc/sandglass/config.json. Nothing here may change what a guest observes; that is the
 * contract's.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/attr.h"
#include "base/error.h"

/*
 * 1 and *ret (caller frees) when a layer names the setting, 0 when none does. A file that is not a
 * JSON object of known string settings is an error that names the file. Settings: settings.c.
 */
MUST_CHECK int settings_find(const char *name, char **ret, struct error *err);

#endif
