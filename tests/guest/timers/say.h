/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: results as words, times, siginfo. */
#ifndef TIMERS_SAY_H
#define TIMERS_SAY_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000 };

static inline void say(const char *what, long result)
{
	if (result == -1)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, result);
}

static inline int64_t now_ns(clockid_t clock)
{
	struct timespec ts = {0, 0};

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static inline struct timespec spec(int64_t ns)
{
	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

static inline struct itimerspec ispec(int64_t value_ns, int64_t interval_ns)
{
	return (struct itimerspec){spec(interval_ns), spec(value_ns)};
}

static inline void pause_ms(int ms)
{
	struct timespec ts = spec((int64_t)ms * MS);

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

static inline const char *code_name(const siginfo_t *info)
{
	switch (info->si_code) {
	case SI_KERNEL:
		return "SI_KERNEL";
	case SI_USER:
		return "SI_USER";
	case SI_TIMER:
		return "SI_TIMER";
	case SI_MESGQ:
		return "SI_MESGQ";
	case SI_QUEUE:
		return "SI_QUEUE";
	default:
		return "another";
	}
}

static inline void handle(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	sigaction(sig, &action, NULL);
}

static inline void block(int sig, int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(how, &set, NULL);
}

/* Until a handler counted up to n; a signal that comes before the wait is not lost. */
static inline void await(const volatile sig_atomic_t *count, int n)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	while (*count < n)
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static inline int is_pending(int sig)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, sig);
}

#endif
