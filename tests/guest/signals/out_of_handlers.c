/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of a handler: siglongjmp out of a call that waits, a mask and registers changed in the
 * context, and handlers that interrupt each other.
 *: native
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static int fds[2];

static void jump(int sig)
{
	siglongjmp(back, sig);
}

static void change_mask(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
	sigaddset(&u->uc_sigmask, SIGUSR2);
}

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

static void inner(int sig)
{
	(void)sig;
	say("inner\n");
}

static void outer(int sig)
{
	(void)sig;
	say("outer begins\n");
	raise(SIGUSR2);
	say("outer ends\n");
}

static void set(int sig, void (*handler)(int), int blocks)
{
	struct sigaction action = {.sa_handler = handler};

	if (blocks)
		sigaddset(&action.sa_mask, blocks);
	sigaction(sig, &action, NULL);
}

static void jump_out(void)
{
	sigset_t now;
	char byte;

	set(SIGALRM, jump, 0);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0) {
			setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 10000}}, NULL);
			printf("read %zd\n", read(fds[0], &byte, 1));
		}
		sigprocmask(SIG_BLOCK, NULL, &now);
		printf("out of the read, SIGALRM blocked %d\n", sigismember(&now, SIGALRM));
	}
	fflush(stdout);
	/* What was left waiting does not disturb what comes. */
	printf("write %zd\n", write(fds[1], "x", 1));
	printf("read %zd\n", read(fds[0], &byte, 1));
	fflush(stdout);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = change_mask, .sa_flags = SA_SIGINFO};
	sigset_t now;

	if (pipe(fds) < 0)
		return 1;
	jump_out();
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("the context's mask: %d\n", sigismember(&now, SIGUSR2));
	sigemptyset(&now);
	sigprocmask(SIG_SETMASK, &now, NULL);
	fflush(stdout);
	set(SIGUSR1, outer, 0);
	set(SIGUSR2, inner, 0);
	say("may interrupt:\n");
	raise(SIGUSR1);
	set(SIGUSR1, outer, SIGUSR2);
	say("has to wait:\n");
	raise(SIGUSR1);
	return 0;
}
