/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter with a listener is refused as by a kernel that has none, and the program goes on
 * without; so is strict mode, as where there is a filter already.
 *: out listener: EINVAL
 *: out sizes: EINVAL
 *: out user notification: EOPNOTSUPP
 *: out errors are available: done
 *: out odd operation: EINVAL
 *: out odd flag: EINVAL
 *: out no program: EFAULT
 *: out strict: EINVAL
 *: out mode 0
 *: out an ordinary one: done
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "own_filter.h"

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
}

int main(void)
{
	uint32_t notify = SECCOMP_RET_USER_NOTIF, error = SECCOMP_RET_ERRNO;
	struct seccomp_notif_sizes sizes;

	tell("listener", own_filter(SYS_getsid, notify, SECCOMP_FILTER_FLAG_NEW_LISTENER));
	tell("sizes", syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes));
	tell("user notification", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &notify));
	tell("errors are available", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &error));
	tell("odd operation", syscall(SYS_seccomp, 99, 0, NULL));
	tell("odd flag", own_filter(SYS_getsid, error, 1u << 20));
	tell("no program", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	tell("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	printf("mode %d\n", prctl(PR_GET_SECCOMP));
	tell("an ordinary one", own_filter(SYS_getsid, error | EPERM, 0));
	return 0;
}
