/* SPDX-License-Identifier: Apache-2.0 */
/* What a container runtime puts into the root: see foreign.h. */
#include "supervise/files/foreign.h"

#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "supervise/attach.h"

/* docker's, podman's and ours; /dev/core and the mount of queues are runc's. */
static const char *const hidden[] = {"/.dockerenv", "/.sandglass", "/dev/console", "/dev/core",
	"/dev/mqueue", "/etc/mtab", "/run/.containerenv"};

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool foreign_is_name(const char *name)
{
	if (!attach_is_on())
		return false;
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (strcmp(last_of(hidden[i]), name) == 0)
			return true;
	return false;
}

/* An image may have one of its own; docker's leads there. */
static bool is_made(const char *path)
{
	static const char mtab[] = "/etc/mtab", target[] = "/proc/mounts";
	char link[sizeof(target)];

	return strcmp(path, mtab) != 0 ||
	       (readlink(mtab, link, sizeof(link)) == sizeof(target) - 1 &&
		       memcmp(link, target, sizeof(target) - 1) == 0);
}

bool foreign_is_hidden(const char *path)
{
	if (!attach_is_on())
		return false;
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (strcmp(hidden[i], path) == 0)
			return is_made(path);
	return false;
}
