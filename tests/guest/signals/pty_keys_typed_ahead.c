/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that edit and end lines, typed before the lines ahead of them are read: nothing is lost, and
 * each works on its own line. The writer does not wait, not even one that must not block.
 *: native
 *: rootless
 *: out <one>
 *: out <two>
 *: out <rest>
 *: out <four>
 *: out end of file
 */
#include <sys/wait.h>

#include "pty.h"

static void echo_off(int slave)
{
	struct termios mode;

	tcgetattr(slave, &mode);
	mode.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(slave, TCSANOW, &mode);
}

static void read_lines(int to)
{
	char line[80], shown[100];
	ssize_t n = 0;

	while ((n = read(0, line, sizeof(line))) > 0) {
		int len = 0;

		n -= line[n - 1] == '\n';
		len = snprintf(shown, sizeof(shown), "<%.*s>\n", (int)n, line);
		if (write(to, shown, (size_t)len) != len)
			_exit(1);
	}
	_exit(write(to, "end of file\n", 12) == 12 ? 0 : 1);
}

int main(void)
{
	int slave = 0, master = pty_open(&slave), ends[2];
	char data[100];
	ssize_t n = 0;

	echo_off(slave);
	if (pipe(ends) < 0)
		return 1;
	if (fork() == 0) {
		pty_take(master, slave);
		close(ends[0]);
		read_lines(ends[1]);
	}
	close(ends[1]);
	pty_type(master, "one\ntwi\177o\nnot this\025rest\004");
	fcntl(master, F_SETFL, O_NONBLOCK);
	pty_type(master, "fuur\177\177ur\177\177\177our\n\004");
	while ((n = read(ends[0], data, sizeof(data))) > 0)
		fwrite(data, 1, (size_t)n, stdout);
	wait(NULL);
	return 0;
}
