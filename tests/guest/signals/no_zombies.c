/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SA_NOCLDWAIT, an ignored SIGCHLD, and SA_NOCLDSTOP.
 *: native
 *: long
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t taken;

static void count(int sig)
{
	(void)sig;
	taken = taken + 1;
}

static void set(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(SIGCHLD, &action, NULL);
	taken = 0;
}

static void collect(const char *what)
{
	int status = 0;
	pid_t r;

	if (fork() == 0)
		_exit(1);
	usleep(30000);
	errno = 0;
	r = wait(&status);
	printf("%s: %s %s, %d signals\n", what, r > 0 ? "a child" : "none",
		r > 0 ? "" : strerrorname_np(errno), (int)taken);
	fflush(stdout);
}

/* It waits while children live, and then has nobody. */
static void wait_for_all(const char *what)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			usleep(10000u * (unsigned)(i + 1));
			_exit(i);
		}
	printf("%s: wait %d", what, (int)wait(NULL));
	printf(" %s\n", strerrorname_np(errno));
	fflush(stdout);
}

static void stop(const char *what)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	while (waitpid(pid, &status, WUNTRACED) < 0)
		continue;
	usleep(20000); /* wait may tell before the signal comes, which ends this then */
	printf("%s: stopped %d, %d signals", what, WIFSTOPPED(status), (int)taken);
	kill(pid, SIGCONT);
	while (waitpid(pid, &status, WCONTINUED) < 0)
		continue;
	usleep(20000);
	printf(", continued %d, %d signals", WIFCONTINUED(status), (int)taken);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		continue;
	usleep(20000);
	printf(", killed, %d signals\n", (int)taken);
	fflush(stdout);
}

int main(void)
{
	set(SIG_DFL, 0);
	collect("default");
	set(count, 0);
	collect("handler");
	set(count, SA_NOCLDWAIT);
	collect("handler with SA_NOCLDWAIT");
	set(SIG_DFL, SA_NOCLDWAIT);
	collect("default with SA_NOCLDWAIT");
	wait_for_all("default with SA_NOCLDWAIT");
	set(SIG_IGN, 0);
	collect("ignored");
	wait_for_all("ignored");
	set(count, 0);
	stop("handler");
	set(count, SA_NOCLDSTOP);
	stop("handler with SA_NOCLDSTOP");
	return 0;
}
