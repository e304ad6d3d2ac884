/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a shared object of ours that is loaded when the first of them is called: libraries
 * that few commands need take longer to load than most of what the others do.
 */
#ifndef CONFIG_MODULE_H
#define CONFIG_MODULE_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"

struct module {
	const char *file; /* as program_open finds it */
	void *handle;	  /* NULL: not loaded yet; never unloaded */
};

/* *ret_function (a pointer to a function) is the one of this name; false with err set when there is
 * none. */
MUST_CHECK bool module_find(
	struct module *m, const char *name, void *ret_function, struct error *err);

#endif
