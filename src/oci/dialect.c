/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the container runtimes: see dialect.h. */
#include "oci/dialect.h"

#include <string.h>

#include "base/attr.h"

#define WORDS(...) \
	(const char *const[]) \
	{ \
		__VA_ARGS__, NULL \
	}

const struct dialect dialects[] = {
	{
		.name = "docker",
		.run = WORDS("--log-driver", "none", "--sig-proxy=false"),
		.inspect = WORDS("image", "inspect", "--format", "{{json .}}"),
		.version = WORDS("version", "--format", "{{.Server.Version}}"),
		/* The container is gone by then; the daemon remembers what happened to it. What
		 * happened in this very second comes only if the end is later. */
		.oom = WORDS("events", "--since", "24h", "--until=-1s", "--filter", "event=oom",
			"--format", "oom", "--filter"),
		.knows_tmpfs = true,
		.start = "start its daemon (systemctl start docker), and be root or of the group "
			 "docker",
	},
	{
		.name = "podman",
		/* With --read-only it would make /run and /var/tmp writable by itself. */
		.run = WORDS("--log-driver", "none", "--sig-proxy=false", "--read-only-tmpfs=false",
			"--image-volume", "ignore", "--http-proxy=false", "--systemd", "false",
			"--passwd=false"),
		.inspect = WORDS("image", "inspect", "--format", "{{json .}}"),
		.version = WORDS("version", "--format", "{{.Client.Version}}"),
		/* It would ask for more than the host may give. */
		.wants_limits = true,
		.start = "install it",
	},
	{
		.name = "nerdctl",
		.run = WORDS("--sig-proxy=false"),
		.inspect = WORDS(
			"image", "inspect", "--mode", "dockercompat", "--format", "{{json .}}"),
		.version = WORDS("version", "--format", "{{.Server.Components}}"),
		.start = "start containerd, and be root or have set up rootless containerd",
	},
};
const size_t dialect_count = ARRAY_LEN(dialects);

const struct dialect *dialect_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(dialects); i++)
		if (strcmp(dialects[i].name, name) == 0)
			return &dialects[i];
	return NULL;
}
