/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how the calls fail that a deterministic run cannot hold: as a kernel without them would
 * say. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void print_call(const char *name, long number, long a, long b)
{
	errno = 0;
	const long result = syscall(number, a, b, 0L, 0L, 0L);

	printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "worked");
	if (result > 2)
		close((int)result);
}

int main(void)
{
	char params[256];

	memset(params, 0, sizeof(params));
	print_call("io_uring_setup", SYS_io_uring_setup, 1, (long)params);
	print_call("perf_event_open", SYS_perf_event_open, (long)params, 0);
	print_call("bpf", SYS_bpf, 0, (long)params);
	print_call("userfaultfd", SYS_userfaultfd, 1, 0);
	print_call("io_setup", SYS_io_setup, 1, (long)params);
	print_call("rseq", SYS_rseq, 0, 0);
	print_call("kcmp", SYS_kcmp, getpid(), getpid());
	return 0;
}
