/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal of the guest's own: lines and their echo, erased characters, end of file, and what
 * comes when the last one closes it.
 *: native
 */
#include <sys/wait.h>

#include "pty.h"

static void talk(void)
{
	char line[80];

	printf("name? ");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		printf("<%s>\n", line);
		fflush(stdout);
	}
	printf("end of file\n");
	fflush(stdout);
	_exit(4);
}

int main(void)
{
	int slave, master = pty_open(&slave), status;
	pid_t pid = fork();

	if (pid == 0) {
		pty_take(master, slave);
		talk();
	}
	close(slave);
	pty_show(master, "name? ");
	pty_type(master, "Ann\n");
	pty_show(master, "<Ann>\r\n");
	pty_type(master, "Bex\177n\n");
	pty_show(master, ">\r\n");
	pty_type(master, "one\ntwo\nthree\n");
	pty_show(master, "<three>\r\n");
	pty_type(master, "rest\004 of it\n");
	pty_show(master, ">\r\n");
	pty_type(master, "\004");
	pty_show(master, NULL);
	waitpid(pid, &status, 0);
	printf("status %d\n", WEXITSTATUS(status));
	return 0;
}
