/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the sandbox's end: to outlive it, to outlast its time-out, to take its init away. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum verdict life_stop_self(void)
{
	fflush(stdout);
	kill(0, SIGSTOP);
	for (;;)
		pause();
}

enum verdict life_ignore_signals(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t all;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &ignore, NULL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	for (volatile unsigned long turns = 0;; turns++)
		continue;
}

/* It holds none of our descriptors, so that only its life itself keeps it in the world. */
enum verdict life_daemon_survives(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		signal(SIGHUP, SIG_IGN);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, 0);
	return judged("left a daemon");
}

enum verdict life_kill_init(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGSEGV,
		SIGABRT, SIGSTOP, SIGKILL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		kill(1, signals[i]);
	usleep(1000);
	return judged("init is still there");
}

enum verdict life_shell_bg(void)
{
	fflush(stdout);
	execl("/bin/sh", "sh", "-c",
		"sleep 100000 & (trap '' HUP TERM INT; while :; do sleep 1000; done) & echo JUDGED "
		"left two jobs",
		(char *)NULL);
	return contained("no shell: %s", strerror(errno));
}

/* Always another child on its way: whoever kills one at a time is never done. */
enum verdict life_fork_storm(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid == 0)
			setsid();
	}
}
