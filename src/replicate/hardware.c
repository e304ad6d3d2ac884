/* SPDX-License-Identifier: Apache-2.0 */
/* Needs of the machine: see hardware.h. */
#include "replicate/hardware.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

enum { CPUINFO_MAX = 16 << 20 };

bool hardware_has_flag(const char *cpuinfo, const char *flag)
{
	/* x86 calls the line "flags", aarch64 "Features". */
	const char *line = strstr(cpuinfo, "\nflags");
	size_t len = strlen(flag);

	if (!line)
		line = strstr(cpuinfo, "\nFeatures");
	for (const char *p = line ? line + 1 : ""; *p && *p != '\n';) {
		size_t word = strcspn(p, " \t:\n");

		if (word == len && memcmp(p, flag, len) == 0)
			return true;
		p += word;
		p += strspn(p, " \t:");
	}
	return false;
}

int hardware_check(const struct claim *c, struct error *err)
{
	autoclose int fd = -1;
	autofree char *text = NULL;
	size_t len;

	if (!c->cpu_flags || !c->cpu_flags[0])
		return 0;
	fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open /proc/cpuinfo");
	if (fd_slurp(fd, CPUINFO_MAX, &text, &len, err) < 0)
		return error_wrap(err, "/proc/cpuinfo");
	for (char **flag = c->cpu_flags; *flag; flag++)
		if (!hardware_has_flag(text, *flag)) {
			autofree char *safe = str_printable(*flag, strlen(*flag), 64);

			return error_set(err, ERR_UNSUPPORTED,
				"the claim needs a CPU with '%s' (hardware.cpu), which this one "
				"has not",
				safe);
		}
	return 0;
}
