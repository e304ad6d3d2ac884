/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of /proc and /sys: see procfs.h. A path is looked up in procfs.def; one below a
 * process's directory by what comes after /proc/PID/ or /proc/PID/task/TID/.
 */
#include "supervise/proc/procfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/proc/make.h"

enum {
	NATIVE_MAX = 16 << 20, /* the longest text of the kernel's that is rewritten */
	LINE_USUAL = 512,
};

struct row {
	const char *path; /* a final * matches any rest */
	enum procfs_verdict verdict;
	procfs_maker *make;
	const char *text; /* when there is no maker */
	int error;	  /* PROCFS_REFUSED: that of open */
};

static const struct row system_rows[] = {
#define FIXED(path, text) {path, PROCFS_SERVE, NULL, text, 0},
#define MADE(path, maker) {path, PROCFS_SERVE, make_##maker, NULL, 0},
#define PASS(path) {path, PROCFS_PASS, NULL, NULL, 0},
#define TASK_FIXED(path, text)
#define TASK_MADE(path, maker)
#define TASK_PASS(path)
#define TASK_REFUSED(path, error)
#include "supervise/proc/procfs.def"
#undef FIXED
#undef MADE
#undef PASS
#undef TASK_FIXED
#undef TASK_MADE
#undef TASK_PASS
#undef TASK_REFUSED
};

static const struct row task_rows[] = {
#define FIXED(path, text)
#define MADE(path, maker)
#define PASS(path)
#define TASK_FIXED(path, text) {path, PROCFS_SERVE, NULL, text, 0},
#define TASK_MADE(path, maker) {path, PROCFS_SERVE, make_##maker, NULL, 0},
#define TASK_PASS(path) {path, PROCFS_PASS, NULL, NULL, 0},
#define TASK_REFUSED(path, error) {path, PROCFS_REFUSED, NULL, NULL, error},
#include "supervise/proc/procfs.def"
#undef FIXED
#undef MADE
#undef PASS
#undef TASK_FIXED
#undef TASK_MADE
#undef TASK_PASS
#undef TASK_REFUSED
};

/* What the guest may not open of init: there the kernel answers EACCES. */
static bool is_closed_in_init(const char *rest)
{
	static const char *const open_files[] = {"stat", "status", "statm", "cmdline", "comm",
		"limits", "cgroup", "mounts", "mountinfo", "sched", "schedstat", "loginuid",
		"sessionid", "oom_score", "oom_score_adj", "autogroup", "uid_map", "gid_map",
		"setgroups", "cpuset", "wchan"};

	for (size_t i = 0; i < ARRAY_LEN(open_files); i++)
		if (strcmp(rest, open_files[i]) == 0)
			return false;
	return strncmp(rest, "net/", 4) != 0;
}

static pid_t take_number(const char **at)
{
	long long n = 0;

	while (isdigit((unsigned char)**at) && n < 1 << 24)
		n = n * 10 + (*(*at)++ - '0');
	return (pid_t)n;
}

/* Splits /proc/PID/ and task/TID/ off: what is left, or NULL when it is no file of a process. */
static const char *split(const char *path, pid_t *ret_pid, pid_t *ret_tid)
{
	static const char proc[] = "/proc/", task[] = "task/";
	const char *at = path + sizeof(proc) - 1;

	if (strncmp(path, proc, sizeof(proc) - 1) != 0 || !isdigit((unsigned char)*at))
		return NULL;
	*ret_tid = *ret_pid = take_number(&at);
	if (*at++ != '/')
		return NULL;
	if (strncmp(at, task, sizeof(task) - 1) == 0 &&
		isdigit((unsigned char)at[sizeof(task) - 1])) {
		at += sizeof(task) - 1;
		*ret_tid = take_number(&at);
		if (*at++ != '/')
			return NULL;
	}
	return at;
}

static bool is_match(const char *pattern, const char *path)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(pattern, path, len - 1) == 0;
	return strcmp(pattern, path) == 0;
}

static const struct row *find(const char *path)
{
	pid_t pid = 0, tid = 0;
	const char *rest = split(path, &pid, &tid);
	const struct row *rows = rest != NULL ? task_rows : system_rows;
	size_t count = rest != NULL ? ARRAY_LEN(task_rows) : ARRAY_LEN(system_rows);

	for (size_t i = 0; i < count; i++)
		if (is_match(rows[i].path, rest != NULL ? rest : path))
			return &rows[i];
	return NULL;
}

bool procfs_is_closed(const char *directory)
{
	static const char *const closed[] = {"fd", "fdinfo", "map_files", "ns"};
	pid_t pid = 0, tid = 0;
	const char *rest = split(directory, &pid, &tid);

	for (size_t i = 0; rest != NULL && pid == 1 && i < ARRAY_LEN(closed); i++)
		if (strcmp(rest, closed[i]) == 0)
			return true;
	return false;
}

enum procfs_verdict procfs_check(const char *path)
{
	const struct row *row = find(path);
	pid_t pid = 0, tid = 0;
	const char *rest = split(path, &pid, &tid);

	if (rest != NULL && pid == 1 && is_closed_in_init(rest))
		return PROCFS_PASS;
	return row != NULL ? row->verdict : PROCFS_LIVE;
}

int procfs_refusal(const char *path)
{
	const struct row *row = find(path);

	return row != NULL ? row->error : 0;
}

/* Some row is in this directory. */
static bool is_directory_of(const struct row *rows, size_t count, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < count; i++)
		if (strncmp(rows[i].path, path, len) == 0 && rows[i].path[len] == '/')
			return true;
	return false;
}

/* /proc/PID or /proc/PID/task/TID */
static bool is_task(const char *path)
{
	static const char proc[] = "/proc/", task[] = "/task/";
	const char *at = path + sizeof(proc) - 1;

	if (!isdigit((unsigned char)*at) || take_number(&at) <= 0)
		return false;
	if (strncmp(at, task, sizeof(task) - 1) == 0) {
		at += sizeof(task) - 1;
		if (!isdigit((unsigned char)*at) || take_number(&at) <= 0)
			return false;
	}
	return *at == '\0';
}

bool procfs_is_absent(const char *path)
{
	static const char top[] = "/proc/";
	pid_t pid = 0, tid = 0;
	const char *rest = NULL;

	if (strncmp(path, top, sizeof(top) - 1) != 0 || is_task(path) || find(path) != NULL)
		return false;
	rest = split(path, &pid, &tid);
	if (rest != NULL)
		return !is_directory_of(task_rows, ARRAY_LEN(task_rows), rest);
	return !is_directory_of(system_rows, ARRAY_LEN(system_rows), path);
}

int procfs_make(struct task *t, const char *path, struct bytes *ret_out)
{
	const struct row *row = find(path);
	struct procfs_who who = {.reader = t, .path = path};

	(void)split(path, &who.pid, &who.tid);
	who.process = process_find(who.pid);
	who.task = task_find(who.tid);
	if (row == NULL || row->verdict != PROCFS_SERVE) {
		errno = ENOENT;
		return -1;
	}
	if (row->make != NULL)
		return row->make(&who, ret_out);
	bytes_put(ret_out, row->text, strlen(row->text));
	return 0;
}

void procfs_printf(struct bytes *out, const char *fmt, ...)
{
	char line[LINE_USUAL];
	autofree char *longer = NULL;
	va_list ap;
	int len = 0;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if ((size_t)len < sizeof(line)) {
		bytes_put(out, line, (size_t)len);
		return;
	}
	longer = mem_alloc((size_t)len + 1);
	va_start(ap, fmt);
	(void)vsnprintf(longer, (size_t)len + 1, fmt, ap);
	va_end(ap);
	bytes_put(out, longer, (size_t)len);
}

int procfs_native(const struct procfs_who *who, char **ret_text)
{
	autoclose int fd = open(who->path, O_RDONLY | O_CLOEXEC);
	struct error err = {0};
	size_t len = 0;

	if (fd < 0)
		return -1;
	if (fd_slurp(fd, NATIVE_MAX, ret_text, &len, &err) != 0) {
		errno = err.sys != 0 ? err.sys : EFBIG;
		return -1;
	}
	return 0;
}
