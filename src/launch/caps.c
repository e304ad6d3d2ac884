/* SPDX-License-Identifier: Apache-2.0 */
/* What init may do: see caps.h. */
#include "launch/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned kept[] = {CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE};

static bool is_kept(unsigned cap)
{
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (kept[i] == cap)
			return true;
	return false;
}

int caps_drop(struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	/* Until the kernel says that there is no such capability: a newer one has more than we
	 * know. */
	for (unsigned cap = 0; cap < 64; cap++)
		if (!is_kept(cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return error_sys(err, "drop capability %u", cap);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		data[kept[i] / 32].permitted |= 1u << (kept[i] % 32);
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		data[i].effective = data[i].inheritable = data[i].permitted;
	if (syscall(SYS_capset, &header, data) < 0)
		return error_sys(err, "set the capabilities");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0) < 0)
			return error_sys(err, "keep capability %u", kept[i]);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, "set no_new_privs");
	return 0;
}
