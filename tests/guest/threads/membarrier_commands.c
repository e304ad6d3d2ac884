/* SPDX-License-Identifier: Apache-2.0 */
/*
 * membarrier: what has to be registered first, and what it refuses.
 *: native
 *: out known: global yes, private yes
 *: out before registration: -1 1, registered 0, then 0
 *: out no such command: -1 22, flags: -1 22
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int membarrier(int command, unsigned flags)
{
	return (int)syscall(SYS_membarrier, command, flags, 0);
}

int main(void)
{
	int known = membarrier(MEMBARRIER_CMD_QUERY, 0), r;

	printf("known: global %s, private %s\n", known & MEMBARRIER_CMD_GLOBAL ? "yes" : "no",
		known & MEMBARRIER_CMD_PRIVATE_EXPEDITED ? "yes" : "no");
	r = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
	printf("before registration: %d %d, ", r, errno);
	printf("registered %d, ", membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0));
	printf("then %d\n", membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0));
	r = membarrier(1 << 20, 0);
	printf("no such command: %d %d, ", r, errno);
	r = membarrier(MEMBARRIER_CMD_GLOBAL, 99);
	printf("flags: %d %d\n", r, errno);
	return 0;
}
