/* SPDX-License-Identifier: Apache-2.0 */
/* What happens at every exec: see exec.h. */
#include "supervise/engine/exec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervise/engine/entropy.h"
#include "supervise/engine/futex.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/life.h"
#include "supervise/files/path.h"
#include "supervise/hidden/hidden.h"
#include "supervise/hidden/inplace.h"
#include "supervise/report.h"
#include "supervise/sys/ptimer.h"
#include "supervise/sys/sysv.h"
#include "supervise/engine/vdso.h"
#include "wire/sysnr.h"

/* What the kernel told a new program about itself: addresses, 0 where it did not. */
struct told {
	uint64_t vdso, random, name, loader;
};

static bool read_auxv(pid_t tid, struct told *ret)
{
	Elf64_auxv_t auxv[64];
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, auxv, sizeof(auxv));
	close(fd);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(auxv[0]); i++) {
		uint64_t value = auxv[i].a_un.a_val;

		if (auxv[i].a_type == AT_SYSINFO_EHDR)
			ret->vdso = value;
		else if (auxv[i].a_type == AT_RANDOM)
			ret->random = value;
		else if (auxv[i].a_type == AT_EXECFN)
			ret->name = value;
		else if (auxv[i].a_type == AT_BASE)
			ret->loader = value;
	}
	return n > 0;
}

/* The file that was named is the program itself, and no script; false where that is not sure. */
static bool is_program(const char *name, const struct hidden_programs *p)
{
	struct stat st;

	return name[0] == '/' && stat(name, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino;
}

/* Of a script /proc has the interpreter alone: the file that was named is told before it. */
static void tell_program(struct task *t, uint64_t name, const struct hidden_programs *p)
{
	auto_path struct path named = PATH_NONE;
	char link[32], path[PATH_MAX], script[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", t->tid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return;
	path[n] = '\0';
	if (name && gmem_read_string(t, name, script, sizeof(script)) > 0 &&
		!is_program(script, p) &&
		path_find_text(t, AT_FDCWD, script, 0, &named) == PATH_FOUND &&
		path_name(named.fd, script) && strcmp(script, path) != 0)
		report_exec(t, script);
	report_exec(t, path);
}

/* The kernel lets programs unmap its pages of time: seen at the first, true for all of them. */
static bool can_unmap;

/* The kernel's pages of time are mapped into every new program, and could be read. */
static void hide_time(struct task *t)
{
	uint64_t arg[6] = {0};
	int64_t r;

	arg[0] = vdso_data(t->mm, &arg[1]);
	if (!t->mm->vdso || !arg[1])
		return;
	r = inject_at_exec(t, NR_munmap, arg);
	can_unmap = r == 0;
	if (r < 0 && r != -ESRCH)
		report_not_enforced(REASON_VDSO_UNPATCHED,
			"could not patch vDSO: its data stay readable, error %d", (int)-r);
}

/* The common case: nothing else is to be set up, and the program hides the time without a stop. */
static bool hides_itself(struct task *t, struct regs *regs)
{
	uint64_t start = vdso_start(t->mm);

	if (!start || !can_unmap || t->proc->own_filter)
		return false;
	arch_set_ip(regs, start);
	return arch_regs_write(t->tid, regs) == 0;
}

/* Settings that exec takes back: the new program makes them again before its first instruction. */
static void set_up(struct task *t, struct regs *regs)
{
	struct arch_call calls[ARCH_EXEC_CALLS];
	size_t count = arch_exec_calls(calls);

	if (count == 0 && hides_itself(t, regs))
		return;
	for (size_t i = 0; i < count; i++) {
		int64_t r = inject_at_exec(t, calls[i].nr, calls[i].arg);

		if (r < 0 && r != -ESRCH)
			report_not_enforced(REASON_UNMODELLED,
				"could not set up a new program: call %d, error %d", calls[i].nr,
				(int)-r);
	}
	hide_time(t);
	t->at_exit = false;
}

/* What was in the old address space: for its other threads and for who shares it, as at an exit. */
static void leave_memory(struct task *t)
{
	life_settle(t->proc);
	futex_owner_died(t);
	if (t->clear_tid)
		futex_clear_tid(t->mm, t->clear_tid);
	t->clear_tid = 0;
	futex_settle();
	mm_unref(t->mm);
}

void exec_done(struct task *t)
{
	struct told told = {0};
	struct hidden_programs programs;
	unsigned char bytes[16];
	struct regs regs;
	struct error err;

	t->proc->execing = false;
	t->proc->exit_signal = SIGCHLD;
	ptimer_stop(t->proc);
	sysv_processes_changed();
	leave_memory(t);
	t->mm = mm_new();
	if (!read_auxv(t->tid, &told) || arch_regs_read(t->tid, &regs) < 0)
		return; /* killed meanwhile */
	t->mm->vdso = told.vdso;
	hidden_look_up(t, &programs);
	if (programs.loader && told.loader && told.vdso)
		inplace_ready(programs.loader, told.loader, told.vdso);
	if (told.vdso && vdso_patch(t->mm, arch_ip(&regs), &err) < 0)
		report_not_enforced(REASON_VDSO_UNPATCHED, "could not patch vDSO: %s", err.msg);
	if (programs.loader && told.loader)
		inplace_put(t->mm, programs.loader);
	if (told.random) {
		entropy_draw(t, bytes, sizeof(bytes));
		if (gmem_write(t, told.random, bytes, sizeof(bytes)) < 0)
			report_not_enforced(REASON_UNMODELLED, "could not replace AT_RANDOM");
	}
	set_up(t, &regs);
	hidden_exec(t, &programs);
	tell_program(t, told.name, &programs);
}
