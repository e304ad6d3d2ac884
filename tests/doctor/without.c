/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program without some system calls, as a container's seccomp profile takes them away:
 * without ERRNO CALL[:ARG0]... -- PROGRAM [ARGUMENT...]. ERRNO is a number, or `kill`.
 */
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add(scmp_filter_ctx filter, uint32_t action, char *word)
{
	char *arg = strchr(word, ':');
	int nr;

	if (arg)
		*arg++ = '\0';
	nr = seccomp_syscall_resolve_name(word);
	if (nr < 0)
		return -1;
	if (arg)
		return seccomp_rule_add(
			filter, action, nr, 1, SCMP_A0(SCMP_CMP_EQ, strtoul(arg, NULL, 0)));
	return seccomp_rule_add(filter, action, nr, 0);
}

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	uint32_t action;

	if (argc < 4 || !filter)
		return 125;
	action = strcmp(argv[1], "kill") == 0
			 ? SCMP_ACT_KILL_PROCESS
			 : SCMP_ACT_ERRNO((uint16_t)strtoul(argv[1], NULL, 10));
	for (argv += 2; *argv && strcmp(*argv, "--") != 0; argv++)
		if (add(filter, action, *argv) < 0) {
			fprintf(stderr, "without: no rule for '%s'\n", *argv);
			return 125;
		}
	if (!*argv || !argv[1] || seccomp_load(filter) < 0)
		return 125;
	execvp(argv[1], argv + 1);
	return 125;
}
