/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task reads an eventfd, a timerfd, a signalfd or an inotify descriptor.
 *: native
 *: long
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "eintr.h"

static int counter, timer, signals, watch;
static uint64_t value;

static void count(void)
{
	const uint64_t one = 1;

	if (write(counter, &one, 8) != 8)
		_exit(1);
}

static void expire(void)
{
	timerfd_settime(timer, 0, &(struct itimerspec){{0, 0}, {0, 1000}}, NULL);
}

static void raise_it(void)
{
	kill(getpid(), SIGUSR1);
}

static void touch(void)
{
	close(open("touched", O_CREAT | O_WRONLY, 0600));
}

int main(void)
{
	struct signalfd_siginfo info;
	char events[4096];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	counter = eventfd(0, 0);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	signals = signalfd(-1, &set, 0);
	watch = inotify_init1(0);
	inotify_add_watch(watch, ".", IN_CREATE | IN_CLOSE_WRITE);
	EINTR_TRY("read of an eventfd", count, read(counter, &value, 8));
	timerfd_settime(timer, 0, &(struct itimerspec){{0, 0}, {50, 0}}, NULL);
	EINTR_TRY("read of a timerfd", expire, read(timer, &value, 8));
	EINTR_TRY("read of a signalfd", raise_it, read(signals, &info, sizeof(info)));
	EINTR_TRY("read of an inotify descriptor", touch, read(watch, events, sizeof(events)));
	return 0;
}
