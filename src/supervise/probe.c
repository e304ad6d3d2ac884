/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the supervisor can try: see probe.h.
 *
 * How it works: each try is made in a child, which may die of it. One child is seized as a guest
 * is; its vDSO is written to, and a filter that it installs itself stops one of its calls, which
 * gets an answer of ours.
 */
#include "supervise/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/arch.h"
#include "supervise/engine/vdso.h"

enum {
	ANSWER = 4242,	   /* what the stopped call gives; no pid of a small namespace */
	NO_TRAP = 200,	   /* exit status of a child that nothing stopped */
	NO_ANSWER = 201,   /* ... whose call the kernel answered */
	NO_QUESTION = 202, /* ... that has no such instruction */
	TEXT_MAX = 400,
};

static void tell(const char *name, const char *level, const char *detail)
{
	printf("%s\t%s\t%s\n", name, level, detail);
	fflush(stdout);
}

static void tell_errno(const char *name, const char *level, const char *what, int number)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(number));
	tell(name, level, text);
}

/* ---- instructions ---- */

static void on_trap(int sig)
{
	(void)sig;
	_exit(0);
}

static NORETURN void run_trapped(void (*instruction)(void))
{
	struct sigaction act = {.sa_handler = on_trap};
	struct arch_call calls[ARCH_EXEC_CALLS];
	size_t count = arch_exec_calls(calls);

	sigaction(SIGSEGV, &act, NULL);
	if (arch_trap_setup() < 0)
		_exit(errno & 0x7f);
	for (size_t i = 0; i < count; i++) {
		const uint64_t *a = calls[i].arg;

		syscall(calls[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	instruction();
	_exit(NO_TRAP);
}

/* 0: it trapped; NO_TRAP; an errno; -1: something else. */
static int try_trapped(void (*instruction)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		run_trapped(instruction);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void probe_counter(void)
{
	int r = try_trapped(probe_read_counter);

	if (r == 0)
		tell("counter_trap", "ok", "a read of the counter traps");
	else if (r == NO_TRAP)
		tell("counter_trap", "degraded", "a read of the counter does not trap");
	else
		tell_errno("counter_trap", "missing", "the counter cannot be made to trap",
			r < 0 ? EINVAL : r);
}

static void identify(void)
{
	if (!probe_identify_cpu())
		_exit(NO_QUESTION);
}

static void probe_cpuid(void)
{
	int r = try_trapped(identify);

	if (r == NO_QUESTION) {
		tell("cpuid_fault", "ok", "this architecture has no such instruction");
		return;
	}
	tell("cpuid_fault", r == 0 ? "ok" : "degraded",
		r == 0 ? "the guest's question which CPU this is gets the contract's answer"
		       : "this CPU, or the hypervisor, cannot make cpuid fault");
}

static void probe_layout(void)
{
	int before = personality(0xffffffff), after;

	if (personality(ADDR_NO_RANDOMIZE) < 0) {
		tell_errno("layout", "degraded", "personality(ADDR_NO_RANDOMIZE)", errno);
		return;
	}
	after = personality(0xffffffff);
	if (before >= 0)
		personality((unsigned)before);
	tell("layout", after & ADDR_NO_RANDOMIZE ? "ok" : "degraded",
		after & ADDR_NO_RANDOMIZE ? "addresses are the same in every run"
					  : "addresses stay random");
}

/* ---- a child as a guest is ---- */

/* Stops at getppid and lets everything else pass. */
static int install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_LEN(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static NORETURN void guest(int go)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(NO_TRAP);
	if (install_filter() < 0)
		_exit(errno & 0x7f);
	_exit(syscall(SYS_getppid) == ANSWER ? 0 : NO_ANSWER);
}

/* Writes a byte over the function, as our stubs are written, and looks whether it is there. */
static bool can_write(int mem, uint64_t at)
{
	unsigned char old, now, other;

	if (pread(mem, &old, 1, (off_t)at) != 1)
		return false;
	other = (unsigned char)~old;
	return pwrite(mem, &other, 1, (off_t)at) == 1 && pread(mem, &now, 1, (off_t)at) == 1 &&
	       now == other;
}

static void probe_vdso(pid_t pid)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR), at;
	char path[64], good[TEXT_MAX] = "", bad[TEXT_MAX] = "", text[2 * TEXT_MAX + 64];
	autoclose int mem = -1;
	struct error err;
	const char *name;

	if (vdso_init(&err) < 0) {
		tell("vdso", "degraded", err.msg);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0) {
		tell_errno("vdso", "degraded", path, errno);
		return;
	}
	for (size_t i = 0; vdso_symbol(i, &name, &at); i++) {
		char *list = can_write(mem, base + at) ? good : bad;

		if (at)
			snprintf(list + strlen(list), TEXT_MAX - strlen(list), " %s", name);
	}
	snprintf(text, sizeof(text), "%s%s%s%s", *good ? "replaced:" : "nothing can be replaced",
		good, *bad ? "; cannot be written:" : "", bad);
	tell("vdso", *bad || !*good ? "degraded" : "ok", text);
}

/* The child stands at its getppid: the answer is ours, and it ends content. */
static void answer(pid_t pid)
{
	struct regs regs;
	int status = 0;

	if (arch_regs_read(pid, &regs) < 0 || arch_call_skip(pid, &regs, ANSWER) < 0) {
		tell_errno("seccomp", "missing", "a stopped call cannot be answered", errno);
		return;
	}
	ptrace(PTRACE_CONT, pid, 0, 0);
	if (waitpid(pid, &status, __WALL) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		tell("seccomp", "missing", "a stopped call did not get our answer");
	else
		tell("seccomp", "ok", "a filter stops a call, and it gets our answer");
}

static void probe_filter(pid_t pid, int go)
{
	int status = 0;

	ptrace(PTRACE_CONT, pid, 0, 0);
	if (write(go, "g", 1) != 1 || waitpid(pid, &status, __WALL) < 0)
		tell_errno("seccomp", "missing", "the traced process went away", errno);
	else if (WIFSTOPPED(status) && status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
		answer(pid);
	else if (WIFEXITED(status) && WEXITSTATUS(status) < NO_TRAP)
		tell_errno(
			"seccomp", "missing", "a filter cannot be installed", WEXITSTATUS(status));
	else
		tell("seccomp", "missing", "a filter does not stop the call that it should");
}

static void probe_traced(void)
{
	unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP |
				PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int go[2], status;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		tell_errno("ptrace", "missing", "no process can be made", errno);
		return;
	}
	if (pid == 0) {
		close(go[1]);
		guest(go[0]);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, 0, options) < 0 || ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0 ||
		waitpid(pid, &status, __WALL) < 0) {
		tell_errno("ptrace", "missing", "a process of ours cannot be traced", errno);
	} else {
		tell("ptrace", "ok", "a process is seized, stopped and let go on");
		probe_vdso(pid);
		probe_filter(pid, go[1]);
	}
	kill(pid, SIGKILL);
	close(go[1]);
	while (waitpid(pid, &status, __WALL) > 0 && !WIFEXITED(status) && !WIFSIGNALED(status))
		continue;
}

int probe_main(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};

	/* Ignored, children would leave nothing to wait for. */
	sigaction(SIGCHLD, &act, NULL);
	probe_layout();
	probe_counter();
	probe_cpuid();
	probe_traced();
	return 0;
}
