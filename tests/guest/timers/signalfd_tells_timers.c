/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers' signals read from a signalfd: their sender, number, value and overrun; and they go on.
 *
 *: native
 */
#include <sys/signalfd.h>
#include <sys/time.h>

#include "say.h"

static void show(int fd)
{
	struct signalfd_siginfo got;

	if (read(fd, &got, sizeof(got)) != sizeof(got))
		return;
	printf("signal %u code %s from %u, timer %u value %d overrun %s\n", got.ssi_signo,
		got.ssi_code == SI_TIMER    ? "SI_TIMER"
		: got.ssi_code == SI_KERNEL ? "SI_KERNEL"
					    : "another",
		got.ssi_code == SI_TIMER ? 0 : got.ssi_pid, got.ssi_tid, got.ssi_int,
		got.ssi_overrun >= 20 ? "many"
		: got.ssi_overrun     ? "some"
				      : "none");
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
		.sigev_value = {.sival_int = 77}};
	struct itimerspec every = ispec(2 * MS, 2 * MS), off = ispec(0, 0);
	struct itimerval real = {{0, 3000}, {0, 3000}};
	sigset_t set;
	timer_t timer;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	pause_ms(60);
	show(fd);
	timer_settime(timer, 0, &off, NULL);
	setitimer(ITIMER_REAL, &real, NULL);
	for (int i = 0; i < 3; i++)
		show(fd);
	return 0;
}
