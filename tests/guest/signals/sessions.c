/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions and groups: setsid, setpgid and their refusals, and what children have of them.
 *: native
 *: long
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready[2], go[2];

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

static pid_t make(int leads)
{
	char byte;
	pid_t pid = fork();

	if (pid == 0) {
		close(go[1]);
		if (leads)
			setsid();
		if (write(ready[1], "x", 1) != 1 || read(go[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		_exit(1);
	return pid;
}

static void leads(void)
{
	pid_t member, leader;

	setsid();
	printf("its own session %d, its own group %d\n", getsid(0) == getpid(),
		getpgrp() == getpid());
	tell("setsid again", setsid());
	tell("a leader leaves", setpgid(0, 0));
	member = make(0);
	printf("a child is in it: %d %d\n", getsid(member) == getsid(0),
		getpgid(member) == getpgrp());
	tell("a group for the child", setpgid(member, member));
	printf("that is its own: %d\n", getpgid(member) == member);
	tell("and back", setpgid(member, getpgrp()));
	tell("no such group", setpgid(member, 0x3ffffff));
	tell("negative", setpgid(member, -1));
	leader = make(1);
	tell("one of another session", setpgid(leader, getpgrp()));
	printf("other session: %d\n", getsid(leader) == leader);
	tell("no such process", setpgid(0x3ffffff, 0));
	tell("getpgid of none", getpgid(0x3ffffff));
	tell("getsid of none", getsid(0x3ffffff));
	close(go[1]);
	while (wait(NULL) > 0)
		continue;
}

int main(void)
{
	int status;

	if (pipe(ready) < 0 || pipe(go) < 0)
		return 1;
	fflush(stdout);
	if (fork() == 0) {
		leads();
		_exit(0);
	}
	close(go[1]);
	wait(&status);
	return WEXITSTATUS(status);
}
