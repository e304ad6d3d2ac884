/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SA_NODEFER, SA_RESETHAND, sa_mask, and what sigaction tells of them.
 *: native
 *: long
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int depth, most;

static void say(const char *text, int value)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%s %d\n", text, value);

	if (write(1, line, (size_t)n) < 0)
		_exit(1);
}

static void nest(int sig)
{
	static int rounds;
	sigset_t now;

	depth++;
	most = depth > most ? depth : most;
	sigprocmask(SIG_BLOCK, NULL, &now);
	say("in the handler, its own signal blocked:", sigismember(&now, sig));
	say("in the handler, SIGUSR2 blocked:", sigismember(&now, SIGUSR2));
	if (rounds++ % 3 != 2)
		raise(sig);
	depth--;
}

static void with(int flags, int mask)
{
	struct sigaction action = {.sa_handler = nest, .sa_flags = flags}, old;

	if (mask)
		sigaddset(&action.sa_mask, mask);
	most = 0;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	say("depth", most);
	say("flags kept:", (old.sa_flags & ~0x04000000) == flags);
	say("handler kept:", old.sa_handler == nest);
	say("default:", old.sa_handler == SIG_DFL);
}

/* After the first the default is back, which ends the process. */
static void once(void)
{
	struct sigaction action = {.sa_handler = nest, .sa_flags = SA_RESETHAND | SA_NODEFER};
	int status;

	fflush(stdout);
	if (fork() == 0) {
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
		_exit(0);
	}
	wait(&status);
	say("ended by", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void refused(int sig)
{
	struct sigaction action = {.sa_handler = nest};

	errno = 0;
	sigaction(sig, &action, NULL);
	printf("sigaction %d: %s\n", sig, errno ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

int main(void)
{
	sigset_t mask;

	with(0, 0);
	with(0, SIGUSR2);
	with(SA_NODEFER, 0);
	with(SA_NODEFER, SIGUSR1);
	with(SA_RESTART | SA_SIGINFO, SIGUSR2);
	once();
	refused(SIGKILL);
	refused(SIGSTOP);
	refused(65);
	refused(0);
	/* These two cannot be blocked. */
	sigfillset(&mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	say("SIGKILL blocked:", sigismember(&mask, SIGKILL));
	say("SIGSTOP blocked:", sigismember(&mask, SIGSTOP));
	return 0;
}
