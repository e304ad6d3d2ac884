/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A background group and its terminal: SIGTTIN at a read, SIGTTOU at a write when TOSTOP says so
 * and at a change of its mode; EIO when it is ignored, and for an orphaned group; tcsetpgrp.
 *: long
 *: native
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "pty.h"

static int report[2];

static void say(const char *what, long r)
{
	dprintf(report[1], "%s: %ld %s\n", what, r, r < 0 ? strerrorname_np(errno) : "");
}

static void job(const char *what, int part)
{
	pid_t pid = fork();
	struct termios mode;
	char byte;
	int status;

	if (pid == 0) {
		setpgid(0, 0);
		if (part == 1 || part == 4)
			signal(part == 1 ? SIGTTIN : SIGTTOU, SIG_IGN);
		tcgetattr(0, &mode);
		if (part < 2)
			say(what, read(0, &byte, 1));
		else if (part < 3)
			say(what, write(1, "x", 1));
		else if (part < 5)
			say(what, tcsetattr(0, TCSANOW, &mode));
		else
			say(what, tcsetpgrp(0, getpgrp()));
		_exit(0);
	}
	setpgid(pid, pid);
	waitpid(pid, &status, WUNTRACED);
	if (!WIFSTOPPED(status)) {
		say("it went on", 0);
		return;
	}
	dprintf(report[1], "%s: stopped by %d\n", what, WSTOPSIG(status));
	/* In the foreground it goes on with what it wanted. */
	if (part == 0) {
		tcsetpgrp(0, pid);
		kill(-pid, SIGCONT);
		waitpid(pid, &status, WUNTRACED);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(0, getpgrp());
		signal(SIGTTOU, SIG_DFL);
		dprintf(report[1], "in the foreground: ended %d\n", WIFEXITED(status));
	} else {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
}

static void shell(void)
{
	struct termios mode;

	say("foreground is its own", tcgetpgrp(0) == getpgrp());
	say("session is its own", tcgetsid(0) == getsid(0));
	job("read", 0);
	job("read with SIGTTIN ignored", 1);
	job("write", 2);
	tcgetattr(0, &mode);
	mode.c_lflag |= TOSTOP;
	tcsetattr(0, TCSANOW, &mode);
	job("write with TOSTOP", 2);
	job("tcsetattr", 3);
	job("tcsetattr with SIGTTOU ignored", 4);
	job("tcsetpgrp", 5);
	say("a group of another session", tcsetpgrp(0, getppid()));
	_exit(0);
}

int main(void)
{
	int slave, master = pty_open(&slave);
	char text[1024];
	ssize_t n;
	pid_t pid;

	if (pipe(report) < 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		close(report[0]);
		pty_take(master, slave);
		shell();
	}
	close(report[1]);
	usleep(30000);
	pty_type(master, "z\n");
	while ((n = read(report[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	waitpid(pid, NULL, 0);
	return 0;
}
