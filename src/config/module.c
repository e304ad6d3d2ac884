/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are loaded when they are needed: see module.h. */
#include "config/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "config/programs.h"

bool module_find(struct module *m, const char *name, void *ret_function, struct error *err)
{
	char path[32];
	void *symbol;

	if (!m->handle) {
		autoclose int fd = -1;

		if (program_open(m->file, "build or install it again", &fd, err) < 0)
			return false;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	symbol = m->handle ? dlsym(m->handle, name) : NULL;
	if (!symbol) {
		error_set(err, ERR_SYSTEM, "load %s: %.300s", m->file, dlerror());
		return false;
	}
	memcpy(ret_function, &symbol, sizeof(symbol));
	return true;
}
