/* SPDX-License-Identifier: Apache-2.0 */
/* Signals between a parent and its children: counted, queued, blocked, answered. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t got[NSIG];

static void count(int sig)
{
	got[sig] = got[sig] + 1;
}

static void answer(int sig)
{
	(void)sig;
	kill(getppid(), SIGUSR1);
}

static void child_answers(void)
{
	struct sigaction action = {.sa_handler = answer};
	sigset_t none;

	sigemptyset(&none);
	sigaction(SIGUSR2, &action, NULL);
	kill(getppid(), SIGUSR1);
	for (int i = 0; i < 5; i++)
		sigsuspend(&none);
	_exit(7);
}

int main(void)
{
	struct sigaction action = {.sa_handler = count};
	sigset_t block, none;
	int status;

	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	const pid_t child = fork();
	if (child == 0)
		child_answers();
	for (int i = 0; i < 5; i++) {
		while (got[SIGUSR1] <= i)
			sigsuspend(&none);
		printf("answer %d\n", (int)got[SIGUSR1]);
		kill(child, SIGUSR2);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		printf("interrupted wait\n");
	printf("child ended with %d, SIGCHLD %d\n", WEXITSTATUS(status), (int)got[SIGCHLD]);
	const pid_t victim = fork();
	if (victim == 0)
		for (;;)
			pause();
	kill(victim, SIGTERM);
	waitpid(victim, &status, 0);
	printf("victim: signal %d\n", WTERMSIG(status));
	printf("kill of a dead one: %s\n", kill(victim, 0) ? strerror(errno) : "worked");
	return 0;
}
