/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal without lines: single characters, VMIN and VTIME, no echo, size and its signal.
 *: native
 *: long
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "pty.h"

static volatile sig_atomic_t resized;

static void on_winch(int sig)
{
	(void)sig;
	resized = resized + 1;
}

static void mode(int min, int time)
{
	struct termios t;

	tcgetattr(0, &t);
	cfmakeraw(&t);
	t.c_cc[VMIN] = (cc_t)min;
	t.c_cc[VTIME] = (cc_t)time;
	tcsetattr(0, TCSANOW, &t);
}

static void show(const char *what)
{
	char text[16];
	ssize_t n = read(0, text, sizeof(text));

	printf("%s %zd:", what, n);
	for (ssize_t i = 0; i < n; i++)
		printf(" %d", text[i]);
	printf(".");
	fflush(stdout);
}

static void inside(void)
{
	struct sigaction action = {.sa_handler = on_winch, .sa_flags = SA_RESTART};
	struct winsize size;

	sigaction(SIGWINCH, &action, NULL);
	mode(1, 0);
	printf("ready.");
	fflush(stdout);
	show("one");
	show("two");
	mode(4, 0);
	printf("ready.");
	fflush(stdout);
	show("four");
	mode(0, 0);
	show("none");
	mode(0, 1);
	show("none in time");
	mode(1, 0);
	printf("ready.");
	fflush(stdout);
	show("after the size");
	ioctl(0, TIOCGWINSZ, &size);
	printf("resized %d, %d by %d.", (int)resized, size.ws_col, size.ws_row);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	const struct winsize size = {.ws_row = 50, .ws_col = 132};
	int slave, master = pty_open(&slave);
	pid_t pid = fork();

	if (pid == 0) {
		pty_take(master, slave);
		inside();
	}
	close(slave);
	pty_show(master, "ready.");
	pty_type(master, "\003");
	pty_show(master, "one 1: 3.");
	pty_type(master, "\033[A");
	pty_show(master, "ready.");
	pty_type(master, "ab");
	pty_type(master, "c");
	pty_type(master, "d");
	pty_show(master, "ready.");
	ioctl(master, TIOCSWINSZ, &size);
	usleep(20000);
	pty_type(master, "x");
	pty_show(master, NULL);
	waitpid(pid, NULL, 0);
	return 0;
}
