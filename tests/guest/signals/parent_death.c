/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PR_SET_PDEATHSIG with signals that are handled, and with SIGKILL; cleared by fork; who adopts.
 *: native
 *: long
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int report[2];

static void tell(int sig, siginfo_t *info, void *context)
{
	(void)context;
	dprintf(report[1], "signal %d code %d\n", sig, info->si_code);
}

static void child(int sig, int handled)
{
	struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
	sigset_t none;
	int now = -1;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, sig);
	prctl(PR_GET_PDEATHSIG, &now);
	dprintf(report[1], "set to %d\n", now);
	if (fork() == 0) {
		prctl(PR_GET_PDEATHSIG, &now);
		dprintf(report[1], "after fork %d\n", now);
		_exit(0);
	}
	wait(NULL);
	if (handled)
		sigaction(sig, &action, NULL);
	kill(getppid(), SIGUSR1);
	if (handled)
		sigsuspend(&none);
	else
		for (;;)
			pause();
	dprintf(report[1], "goes on\n");
	_exit(7);
}

static void try(const char *what, int sig, int handled)
{
	char text[512];
	ssize_t n;
	int status;
	sigset_t set;

	printf("%s:\n", what);
	fflush(stdout);
	if (pipe(report) < 0)
		_exit(1);
	if (fork() == 0) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigaddset(&set, sig);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (fork() == 0)
			child(sig, handled);
		sigdelset(&set, sig);
		sigwaitinfo(&set, NULL);
		_exit(0);
	}
	close(report[1]);
	while ((n = read(report[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	close(report[0]);
	while (wait(&status) > 0)
		if (WIFSIGNALED(status))
			printf("ended by %d\n", WTERMSIG(status));
		else
			printf("exited with %d\n", WEXITSTATUS(status));
	fflush(stdout);
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	try("handled", SIGUSR2, 1);
	try("SIGHUP, handled", SIGHUP, 1);
	try("SIGKILL", SIGKILL, 0);
	printf("bad signal: %d\n", prctl(PR_SET_PDEATHSIG, 99));
	return 0;
}
