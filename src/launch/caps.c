/* SPDX-License-Identifier: Apache-2.0 */
/* What init may do: see caps.h. */
#include "launch/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned kept[] = {CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE};

static int set_caps(const struct __user_cap_data_struct data[static 2], struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	if (syscall(SYS_capset, &header, data) < 0)
		return error_sys(err, "set the capabilities");
	return 0;
}

/* Ambient capabilities pass through exec whatever the bounding set says: it can be empty. */
static int empty_bounding_set(struct error *err)
{
	for (unsigned cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
			/* No such capability, so none above it: a newer kernel has more than we
			 * know. */
			if (errno == EINVAL && cap > CAP_CHECKPOINT_RESTORE)
				return 0;
			return error_sys(err, "drop capability %u", cap);
		}
	return 0;
}

int caps_drop(struct error *err)
{
	struct __user_cap_data_struct data[2] = {0};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		data[kept[i] / 32].inheritable |= 1u << (kept[i] % 32);
	/* Emptying the bounding set takes one more, for as long. */
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		data[i].effective = data[i].permitted =
			data[i].inheritable | (i == 0 ? 1u << CAP_SETPCAP : 0);
	if (set_caps(data, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0) < 0)
			return error_sys(err, "keep capability %u", kept[i]);
	if (empty_bounding_set(err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		data[i].effective = data[i].permitted = data[i].inheritable;
	if (set_caps(data, err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, "set no_new_privs");
	return 0;
}
