/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that were held back arrive in the kernel's order, real-time ones each with its value, the
 * others once, and none beyond the limit.
 *: native
 *: rootless
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void tell(int sig, siginfo_t *info, void *context)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "signal %d value %d code %d\n", sig,
		info->si_value.sival_int, info->si_code);

	(void)context;
	if (write(1, text, (size_t)n) < 0)
		_exit(1);
}

static void queue(int sig, int value)
{
	const union sigval v = {.sival_int = value};

	if (sigqueue(getpid(), sig, v) < 0)
		printf("queue %d: %s\n", value, strerrorname_np(errno));
}

static void held(const int *signals, int count)
{
	struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
	sigset_t all, pending;

	sigfillset(&all);
	sigfillset(&action.sa_mask);
	for (int i = 0; i < count; i++)
		sigaction(signals[i], &action, NULL);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < count; i++)
			queue(signals[i], 10 * round + i);
	sigpending(&pending);
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&pending, i) == 1)
			printf("pending %d\n", i);
	fflush(stdout);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static void limit(void)
{
	const struct rlimit few = {5, 5};
	sigset_t set, none;
	int count = 0;

	setrlimit(RLIMIT_SIGPENDING, &few);
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, 40);
	sigprocmask(SIG_SETMASK, &set, NULL);
	for (int i = 0; i < 8; i++)
		count += sigqueue(getpid(), 40, (union sigval){.sival_int = i}) == 0;
	printf("no more than the limit: %d\n", count <= 5 && errno == EAGAIN);
	/* kill(2) gets through all the same. */
	printf("kill: %d\n", kill(getpid(), SIGUSR1));
	fflush(stdout);
	while (count-- > 0)
		sigwaitinfo(&set, NULL);
	printf("nothing is left: %d\n", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
}

int main(void)
{
	const int mixed[] = {44, SIGUSR2, 34, SIGHUP, 63, SIGUSR1, 40, SIGTERM, SIGSEGV};

	held(mixed, sizeof(mixed) / sizeof(*mixed));
	limit();
	return 0;
}
