/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a session's leader, and the end of a terminal's master: who gets SIGHUP and SIGCONT,
 * and what is left of the terminal.
 *: native
 *: long
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "pty.h"

static int report[2];

static void tell(int sig)
{
	dprintf(report[1], "signal %d\n", sig);
}

static void show(void)
{
	char text[1024];
	ssize_t n;

	close(report[1]);
	while ((n = read(report[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	close(report[0]);
	while (wait(NULL) > 0)
		continue;
}

/* In the foreground of the leader's terminal. */
static void member(int master_ends)
{
	struct sigaction action = {.sa_handler = tell};
	struct pollfd p = {.fd = 0, .events = POLLIN};
	sigset_t none, both;
	char byte;
	ssize_t n;

	sigemptyset(&none);
	sigemptyset(&both);
	sigaddset(&both, SIGHUP);
	sigaddset(&both, SIGCONT);
	sigprocmask(SIG_BLOCK, &both, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGCONT, &action, NULL);
	/* The leader waits for this. */
	kill(getppid(), SIGUSR1);
	if (!master_ends)
		sigsuspend(&none);
	else
		poll(&p, 1, -1);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dprintf(report[1], "poll %d\n", p.revents);
	if (master_ends) {
		n = read(0, &byte, 1);
		dprintf(report[1], "read %zd %s\n", n, n < 0 ? strerrorname_np(errno) : "");
		n = write(1, "x", 1);
		dprintf(report[1], "write %zd %s\n", n, n < 0 ? strerrorname_np(errno) : "");
	}
	dprintf(report[1], "controlling terminal: %d\n", open("/dev/tty", O_RDWR));
	_exit(0);
}

static void leader(int stays)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (fork() == 0)
		member(stays);
	sigwaitinfo(&set, NULL);
	if (!stays)
		_exit(0);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getppid(), SIGUSR1);
	sig = sigwaitinfo(&set, NULL);
	wait(NULL);
	dprintf(report[1], "the leader gets %d\n", sig);
	_exit(0);
}

static void round_of(const char *what, int master_ends)
{
	int slave, master = pty_open(&slave);
	sigset_t set;
	pid_t pid;

	printf("%s:\n", what);
	fflush(stdout);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pipe(report) < 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		close(report[0]);
		pty_take(master, slave);
		leader(master_ends);
	}
	close(slave);
	if (master_ends) {
		sigwaitinfo(&set, NULL);
		close(master);
	}
	show();
	if (!master_ends)
		close(master);
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	round_of("the leader ends", 0);
	round_of("the master is closed", 1);
	return 0;
}
