/* SPDX-License-Identifier: Apache-2.0 */
/* Makes every system call of the table, each in a process of its own, with arguments that mean
 * nothing, and prints what it answers. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/sysnr.h"

static const struct call {
	const char *name;
	long nr;
} calls[] = {
#define SYSCALL(name, verdict, enter, leave, note) {#name, NR_##name},
#include "wire/syscalls.def"
#undef SYSCALL
};

/* They end the process, make another, or wait for ever as they are meant to. */
static const long left_out[] = {
#ifdef __x86_64__
	NR_fork,
	NR_vfork,
	NR_pause,
	NR_select,
#endif
	NR_clone,
	NR_exit,
	NR_exit_group,
	NR_rt_sigreturn,
	NR_rt_sigsuspend,
	NR_ppoll,
	NR_pselect6,
	NR_kill,
};

static int is_left_out(long nr)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (left_out[i] == nr)
			return 1;
	return nr < 0;
}

static void print_call(const struct call *c, const char *form, long arg)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		errno = 0;
		const long result = syscall(c->nr, arg, arg, arg, arg, arg, arg);

		/* Not by stdio: some of these calls take memory or descriptors away. */
		if (result < 0 && result > -4096)
			_exit(errno);
		_exit(result ? 255 : 0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s %s: signal %d\n", c->name, form, WTERMSIG(status));
	else if (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 255)
		printf("%s %s: %s\n", c->name, form, WEXITSTATUS(status) ? "a value" : "0");
	else
		printf("%s %s: %s\n", c->name, form, strerrorname_np(WEXITSTATUS(status)));
	fflush(stdout);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!is_left_out(calls[i].nr)) {
			print_call(&calls[i], "of zeros", 0);
			print_call(&calls[i], "of ones", -1);
		}
	return 0;
}
