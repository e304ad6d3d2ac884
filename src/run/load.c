/* SPDX-License-Identifier: Apache-2.0 */
/* Changed host conditions for a second run: see load.h. */
#include "run/load.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define BURST_NS 4000000ull
#define TOTAL_NS 3000000000ull

void load_cpus(int *ret_first, int *ret_second)
{
	int now = sched_getcpu();
	cpu_set_t set;

	*ret_first = *ret_second = -1;
	if (now < 0 || now >= CPU_SETSIZE || sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	*ret_first = *ret_second = now;
	for (int i = 1; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((now + i) % CPU_SETSIZE, &set)) {
			*ret_second = (now + i) % CPU_SETSIZE;
			return;
		}
}

static NORETURN void burn(int cpu, pid_t parent)
{
	uint64_t start = clock_host_ns(), now = start;
	struct timespec rest = {.tv_nsec = BURST_NS};
	cpu_set_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Nothing of ours is held open: an end of file that somebody waits for has to come. */
	close_range(0, ~0u, 0);
	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	while (now - start < TOTAL_NS && getppid() == parent) {
		uint64_t until = now + BURST_NS;

		while (now < until)
			now = clock_host_ns();
		nanosleep(&rest, NULL);
		now = clock_host_ns();
	}
	_exit(0);
}

void load_start(int cpu, pid_t *ret)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0)
		burn(cpu, parent);
	*ret = child < 0 ? 0 : child;
}

void load_stop(pid_t *child)
{
	if (*child > 0) {
		kill(*child, SIGKILL);
		while (waitpid(*child, NULL, 0) < 0)
			;
	}
	*child = 0;
}
