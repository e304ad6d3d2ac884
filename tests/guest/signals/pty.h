/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal of the guest's own, and a child that has it as its controlling terminal. */
#ifndef GUEST_PTY_H
#define GUEST_PTY_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The master end; *ret_slave is open too. */
static inline int pty_open(int *ret_slave)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		exit(9);
	*ret_slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (*ret_slave < 0)
		exit(9);
	return master;
}

/* In a child: leads a session on it, with 0, 1 and 2. */
static inline void pty_take(int master, int slave)
{
	setsid();
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		_exit(9);
	dup2(slave, 0);
	dup2(slave, 1);
	dup2(slave, 2);
	close(master);
	if (slave > 2)
		close(slave);
}

/* Prints what comes, until the end or until `last` was in it; control characters by name. */
static inline void pty_show(int master, const char *last)
{
	char all[8192] = "";
	size_t len = 0;
	ssize_t n = 0;

	while (len < sizeof(all) - 1 && !(last && strstr(all, last)) &&
		(n = read(master, all + len, sizeof(all) - 1 - len)) > 0) {
		len += (size_t)n;
		all[len] = '\0';
	}
	for (size_t i = 0; i < len; i++)
		if (all[i] == '\n')
			printf("\\n\n");
		else if (all[i] < ' ')
			printf("^%c", all[i] + '@');
		else
			putchar(all[i]);
	if (!last)
		printf("[%s]\n", n < 0 ? "hung up" : "end");
	else
		putchar('\n');
	fflush(stdout);
}

static inline void pty_type(int master, const char *text)
{
	if (write(master, text, strlen(text)) < 0)
		exit(9);
}

#endif
