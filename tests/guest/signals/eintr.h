/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a signal interrupts: a timer raises SIGALRM twice while the call waits. The first one
 * ends it with EINTR or not; at the second one a rescue makes what it waits for happen.
 */
#ifndef GUEST_EINTR_H
#define GUEST_EINTR_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

typedef void rescue_fn(void);

static volatile sig_atomic_t eintr_taken;
static rescue_fn *eintr_rescue;
static rescue_fn *eintr_before; /* makes a try ready, before its timer starts */

static inline void eintr_disarm(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

static inline void eintr_handler(int sig)
{
	int saved = errno;

	(void)sig;
	eintr_taken = eintr_taken + 1;
	if (eintr_taken == 2) {
		eintr_disarm();
		if (eintr_rescue)
			eintr_rescue();
	}
	errno = saved;
}

/* From now on, with or without SA_RESTART. */
static inline void eintr_arm(int restart, rescue_fn *rescue)
{
	struct sigaction action = {
		.sa_handler = eintr_handler, .sa_flags = restart ? SA_RESTART : 0};

	if (eintr_before)
		eintr_before();
	eintr_taken = 0;
	eintr_rescue = rescue;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 20000}}, NULL);
}

static inline void eintr_tell(const char *what, int restart, long result)
{
	const char *name = result < 0 ? strerrorname_np(errno) : "done";

	eintr_disarm();
	printf("%s%s: %s, %d signals\n", what, restart ? " with SA_RESTART" : "", name,
		(int)eintr_taken);
	fflush(stdout);
}

#define EINTR_TRY(what, rescue, call) \
	do { \
		for (int eintr_r = 0; eintr_r < 2; eintr_r++) { \
			long eintr_result; \
\
			eintr_arm(eintr_r, rescue); \
			eintr_result = (long)(call); \
			eintr_tell(what, eintr_r, eintr_result); \
		} \
	} while (0)

#endif
