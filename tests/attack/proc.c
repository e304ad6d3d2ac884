/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on processes: those of the host, and the sandbox's own init. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

/* The halves are joined here only: our own command line must not hold the word. */
static const char *process_word(void)
{
	static char word[128];
	const char *plus = strchr(canary.process, '+');

	if (plus)
		snprintf(word, sizeof(word), "%.*s%s", (int)(plus - canary.process), canary.process,
			plus + 1);
	return word;
}

/* Calls f with /proc/PID/NAME of every process that /proc shows, until one does not give 0. */
static int each_process(const char *name, int (*f)(const char *path))
{
	DIR *proc = opendir("/proc");
	int found = 0;

	while (proc && !found) {
		struct dirent *entry = readdir(proc);
		char path[300];

		if (!entry)
			break;
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/%s", entry->d_name, name);
		found = f(path);
	}
	if (proc)
		closedir(proc);
	return found;
}

static int is_canary_process(const char *path)
{
	return file_holds(path, process_word()) == 1;
}

enum verdict proc_see_host_pid(void)
{
	if (each_process("cmdline", is_canary_process))
		return escaped("a host process is in /proc");
	return contained("/proc has no host process");
}

enum verdict proc_signal_host(void)
{
	return refused("kill(host process, 0)", kill(canary.pid, 0));
}

enum verdict proc_ptrace_host(void)
{
	long result = ptrace(PTRACE_SEIZE, canary.pid, 0, 0);
	int saved = errno;

	if (result == 0)
		ptrace(PTRACE_DETACH, canary.pid, 0, 0);
	errno = saved;
	return refused("PTRACE_SEIZE of a host process", result);
}

enum verdict proc_ptrace_init(void)
{
	return refused("PTRACE_SEIZE of init", ptrace(PTRACE_SEIZE, 1, 0, 0));
}

enum verdict proc_proc_pid1_root(void)
{
	static const char *const links[] = {"root", "cwd", "task/1/root"};
	char path[4096];

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(path, sizeof(path), "/proc/1/%s/%s", links[i], canary.secret);
		if (file_holds(path, canary.mark) == 1)
			return escaped("the secret is at %s", path);
	}
	return contained("init's root does not lead out: %s", strerror(errno));
}

enum verdict proc_init_mem(void)
{
	static const char *const paths[] = {"/proc/1/mem", "/proc/1/maps", "/proc/1/auxv",
		"/proc/1/syscall", "/proc/1/map_files", NULL};
	char byte;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	for (const char *const *p = paths; *p; p++) {
		int fd = open(*p, O_RDONLY | O_CLOEXEC);

		/* Some open and give nothing; what counts is a byte. */
		if (fd >= 0 && read(fd, &byte, 1) == 1)
			return escaped("%s can be read", *p);
		if (fd >= 0)
			close(fd);
	}
	if (process_vm_readv(1, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT)
		return escaped("process_vm_readv reaches init");
	return contained("init's memory is closed: %s", strerror(errno));
}

/* As in CVE-2019-5736: the program that init runs lies on the host. */
enum verdict proc_init_exe_overwrite(void)
{
	static const char *const direct[] = {"/proc/1/exe", NULL};
	int fd = open("/proc/1/exe", O_RDONLY | O_CLOEXEC);
	char path[64];

	if (fd >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		int again = open(path, O_WRONLY | O_CLOEXEC);

		if (again >= 0)
			return escaped("init's program can be written");
	}
	return refused_open(direct, O_WRONLY);
}

static int has_canary_variable(const char *path)
{
	return file_holds(path, CANARY_VARIABLE) == 1;
}

enum verdict proc_proc_environ_leak(void)
{
	if (getenv(CANARY_VARIABLE))
		return escaped("the host's environment is ours");
	if (each_process("environ", has_canary_variable))
		return escaped("the host's environment is in /proc");
	return contained("no host environment in /proc");
}

static enum verdict try_setns(void)
{
	static const char *const names[] = {"net", "ipc", "mnt", "pid", "uts", "user", "cgroup"};
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "/proc/1/ns/%s", names[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && setns(fd, 0) == 0)
			return escaped("setns into init's %s namespace", names[i]);
	}
	return contained("no namespace of init can be entered: %s", strerror(errno));
}

enum verdict proc_setns_init(void)
{
	return in_child(try_setns);
}

/* Who starves init of descriptors or time has taken the sandbox's master away. */
enum verdict proc_init_limits(void)
{
	const struct rlimit none = {0, 0};
	const struct sched_param param = {.sched_priority = 0};

	if (prlimit(1, RLIMIT_NOFILE, &none, NULL) == 0)
		return escaped("init's limits could be set");
	if (sched_setscheduler(1, SCHED_IDLE, &param) == 0 && sched_getscheduler(1) == SCHED_IDLE)
		return escaped("init's scheduling could be set");
	errno = 0;
	if (setpriority(PRIO_PROCESS, 1, 19) == 0 && getpriority(PRIO_PROCESS, 1) == 19)
		return escaped("init's priority could be set");
	return contained("init's limits are its own: %s", strerror(errno));
}

/* A process that the OOM killer spares could let it kill somebody else. */
enum verdict proc_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return contained("oom_score_adj cannot be opened: %s", strerror(errno));
	return refused("oom_score_adj -999", write(fd, "-999", 4));
}
