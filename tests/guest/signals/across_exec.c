/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exec and fork make of signals: handlers go, ignored ones stay, the mask and what is pending
 * stay over exec; a child starts with nothing pending, no alarm and no other stack over exec.
 *: native
 *: long
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing(int sig)
{
	(void)sig;
}

static void tell(const char *what)
{
	const int signals[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGCHLD, SIGTERM};
	sigset_t blocked, pending;
	struct itimerval left;
	stack_t stack;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	sigpending(&pending);
	getitimer(ITIMER_REAL, &left);
	sigaltstack(NULL, &stack);
	printf("%s:", what);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction action;

		sigaction(signals[i], NULL, &action);
		printf(" %d %s%s%s,", signals[i],
			action.sa_handler == SIG_DFL   ? "default"
			: action.sa_handler == SIG_IGN ? "ignored"
						       : "handled",
			sigismember(&blocked, signals[i]) ? " blocked" : "",
			sigismember(&pending, signals[i]) ? " pending" : "");
	}
	printf(" alarm %d, stack %d\n", left.it_value.tv_sec > 0, !(stack.ss_flags & SS_DISABLE));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = nothing};
	stack_t stack = {.ss_size = 65536};
	sigset_t set;

	if (argc > 1) {
		tell("after exec");
		return 0;
	}
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGTERM);
	alarm(100);
	tell("at first");
	if (fork() == 0) {
		tell("in a child");
		_exit(0);
	}
	wait(NULL);
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
