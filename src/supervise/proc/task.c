/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc/PID: the kernel's own text, with what depends on the host taken out of it. What is
 * resident in memory depends on the page cache and on reclaim, so it is shown as a fixed part of
 * the size of the address space: a quarter, half of it anonymous.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "supervise/engine/clock.h"
#include "supervise/files/inode.h"
#include "supervise/main.h"
#include "supervise/files/path.h"
#include "supervise/proc/make.h"
#include "supervise/sys/usage.h"
#include "supervise/files/view.h"

#define NS_PER_TICK 10000000u /* USER_HZ is 100 */

enum {
	INIT_SIZE_KIB = 2048, /* init is ours: its memory is no affair of the guest */
	PAGE_KIB = 4,
};

static uint64_t resident(uint64_t size)
{
	return size / 4;
}

/* As the kernel would say it if the tasks ran by themselves. */
static const char *state_of(const struct procfs_who *who, char native)
{
	const struct task *t = who->task;

	if (native == 'Z' || native == 'X')
		return "Z (zombie)";
	if (t == NULL)
		return "S (sleeping)";
	switch (t->state) {
	case TASK_RUNNABLE:
	case TASK_RUNNING:
	case TASK_SPINNING:
		return "R (running)";
	case TASK_VFORK:
		return "D (disk sleep)";
	case TASK_STOPPED:
		return "T (stopped)";
	case TASK_LEFT:
		return "Z (zombie)";
	case TASK_PARKED:
	case TASK_NATIVE:
	default:
		return "S (sleeping)";
	}
}

/* What replaces a number in a line of status; lines that are not here stay. */
enum status_rule { RULE_TEXT, RULE_RESIDENT, RULE_HALF, RULE_TABLES, RULE_SIZE };

static const struct status_row {
	const char *name;
	enum status_rule rule;
	const char *text;
} status_rows[] = {
	{"TracerPid", RULE_TEXT, "0"},
	{"SigQ", RULE_TEXT, "0/1024"},
	{"VmHWM", RULE_RESIDENT, NULL},
	{"VmRSS", RULE_RESIDENT, NULL},
	{"RssAnon", RULE_HALF, NULL},
	{"RssFile", RULE_HALF, NULL},
	{"RssShmem", RULE_TEXT, "       0 kB"},
	{"VmPTE", RULE_TABLES, NULL},
	{"VmSwap", RULE_TEXT, "       0 kB"},
	{"THP_enabled", RULE_TEXT, "0"},
	{"untag_mask", RULE_TEXT, "0xffffffffffffffff"},
	{"Seccomp_filters", RULE_TEXT, "1"},
	{"Speculation_Store_Bypass", RULE_TEXT, "thread vulnerable"},
	{"SpeculationIndirectBranch", RULE_TEXT, "conditional enabled"},
	{"Cpus_allowed", RULE_TEXT, "1"},
	{"Cpus_allowed_list", RULE_TEXT, "0"},
	{"Mems_allowed", RULE_TEXT, "1"},
	{"Mems_allowed_list", RULE_TEXT, "0"},
	{"voluntary_ctxt_switches", RULE_TEXT, "0"},
	{"nonvoluntary_ctxt_switches", RULE_TEXT, "0"},
};

static void put_status_row(const struct status_row *row, uint64_t size_kib, struct bytes *out)
{
	uint64_t kib = 0;

	if (row->rule == RULE_TEXT) {
		procfs_printf(out, "%s:\t%s\n", row->name, row->text);
		return;
	}
	if (row->rule == RULE_RESIDENT)
		kib = resident(size_kib) / PAGE_KIB * PAGE_KIB;
	else if (row->rule == RULE_HALF)
		kib = resident(size_kib) / 2 / PAGE_KIB * PAGE_KIB;
	else if (row->rule == RULE_TABLES)
		kib = (size_kib / 2048 + 8) * PAGE_KIB;
	else
		kib = size_kib;
	procfs_printf(out, "%s:\t%8" PRIu64 " kB\n", row->name, kib);
}

static void put_status_line(
	const struct procfs_who *who, const char *line, uint64_t size_kib, struct bytes *out)
{
	size_t name = strcspn(line, ":");
	char state = '\0';

	if (sscanf(line, "State:\t%c", &state) == 1) {
		procfs_printf(out, "State:\t%s\n", state_of(who, state));
		return;
	}
	if (who->process == NULL && strncmp(line, "Vm", 2) == 0) {
		const struct status_row row = {"VmSize", RULE_SIZE, NULL};

		if (strncmp(line, "VmSize", 6) == 0)
			put_status_row(&row, size_kib, out);
		return;
	}
	/* As getgroups: a rootless user namespace could not set them. */
	if (strncmp(line, "Groups:", 7) == 0) {
		procfs_printf(out, "Groups:\t%" PRIu32 " \n", contract_get()->gid);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++)
		if (strlen(status_rows[i].name) == name &&
			memcmp(status_rows[i].name, line, name) == 0) {
			put_status_row(&status_rows[i], size_kib, out);
			return;
		}
	procfs_printf(out, "%s\n", line);
}

int make_task_status(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	char *rest = NULL, *line = NULL;
	const char *size = NULL;
	uint64_t size_kib = INIT_SIZE_KIB;

	if (procfs_native(who, &text) != 0)
		return -1;
	size = strstr(text, "\nVmSize:");
	if (size != NULL && who->process != NULL &&
		sscanf(size, " VmSize: %" SCNu64, &size_kib) != 1)
		size_kib = 0;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		if (line[0] != '\0')
			put_status_line(who, line, size_kib, out);
	return 0;
}

/* As the kernel prints them: proc_pid_limits in fs/proc/base.c. */
static void put_limit(
	struct bytes *out, const char *name, const struct cpu_limit *l, const char *unit)
{
	const uint64_t values[] = {l->soft, l->hard};

	procfs_printf(out, "%-25s", name);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (values[i] == RLIM_INFINITY)
			procfs_printf(out, " %-20s", "unlimited");
		else
			procfs_printf(out, " %-20" PRIu64, values[i]);
	procfs_printf(out, " %-10s\n", unit);
}

/* The limits on CPU time are kept by us, and the kernel's are none (sys/policy.c). */
int make_task_limits(const struct procfs_who *who, struct bytes *out)
{
	static const char *const names[] = {"Max cpu time", "Max realtime timeout"};
	static const char *const units[] = {"seconds", "us"};
	autofree char *text = NULL;
	char *rest = NULL, *line = NULL;

	if (procfs_native(who, &text) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		int kept = -1;

		for (int i = 0; i < CPU_LIMITS; i++)
			if (who->process && who->process->cpu_limits[i].is_set &&
				strncmp(line, names[i], strlen(names[i])) == 0)
				kept = i;
		if (kept >= 0)
			put_limit(out, names[kept], &who->process->cpu_limits[kept], units[kept]);
		else if (line[0] != '\0')
			procfs_printf(out, "%s\n", line);
	}
	return 0;
}

/* Fields of /proc/PID/stat by their numbers in proc_pid_stat(5), and what becomes of them. */
enum { F_STATE = 3, F_THREADS = 20, F_VSIZE = 23, F_LAST = 52 };

enum stat_rule { KEEP, ZERO, STATE, CPU_TICKS, CHILD_TICKS, START_TICKS, SIZE, RESIDENT };

static const unsigned char stat_rules[F_LAST + 1] = {
	[3] = STATE,
	[10] = ZERO,
	[11] = ZERO,
	[12] = ZERO,
	[13] = ZERO, /* page faults */
	[14] = CPU_TICKS,
	[15] = ZERO,
	[16] = CHILD_TICKS,
	[17] = ZERO,
	[22] = START_TICKS,
	[23] = SIZE,
	[24] = RESIDENT,
	[29] = ZERO,
	[30] = ZERO,
	[35] = ZERO, /* where it stands; wchan */
	[36] = ZERO,
	[37] = ZERO,
	[39] = ZERO,
	[42] = ZERO,
	[43] = ZERO,
	[44] = ZERO, /* processor, delays */
};

static uint64_t stat_value(const struct procfs_who *who, enum stat_rule rule, uint64_t size)
{
	uint64_t start = clock_monotonic();

	if (who->task != NULL)
		start = who->task->start_ns;
	else if (who->process != NULL)
		start = who->process->start_ns;
	switch (rule) {
	case CPU_TICKS:
		if (who->task == NULL && who->process != NULL)
			return usage_cpu_ns(who->process) / NS_PER_TICK;
		return (clock_monotonic() - start) / NS_PER_TICK;
	case CHILD_TICKS:
		return who->process != NULL ? who->process->children_ns / NS_PER_TICK : 0;
	case START_TICKS:
		/* Init began with the clock. */
		return who->pid == 1 ? 0 : start / NS_PER_TICK;
	case SIZE:
		return size;
	case RESIDENT:
		return resident(size) / (PAGE_KIB * 1024);
	case KEEP:
	case ZERO:
	case STATE:
	default:
		return 0;
	}
}

int make_task_stat(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	char *close = NULL, *rest = NULL, *field = NULL, *fields[F_LAST + 1] = {NULL};
	uint64_t size = INIT_SIZE_KIB * 1024;
	int count = F_STATE;

	if (procfs_native(who, &text) != 0)
		return -1;
	close = strrchr(text, ')');
	if (close == NULL || close[1] != ' ') {
		errno = EIO;
		return -1;
	}
	close[1] = '\0';
	rest = close + 2;
	rest[strcspn(rest, "\n")] = '\0';
	while (count <= F_LAST && (field = strsep(&rest, " ")) != NULL)
		fields[count++] = field;
	if (count > F_VSIZE && who->pid != 1 && sscanf(fields[F_VSIZE], "%" SCNu64, &size) != 1)
		size = 0;
	procfs_printf(out, "%s", text);
	for (int i = F_STATE; i < count; i++) {
		enum stat_rule rule = stat_rules[i];

		if (who->pid == 1 && i > F_THREADS && rule == KEEP)
			rule = ZERO;
		if (rule == KEEP)
			procfs_printf(out, " %s", fields[i]);
		else if (rule == STATE)
			procfs_printf(out, " %c", state_of(who, fields[i][0])[0]);
		else
			procfs_printf(out, " %" PRIu64, stat_value(who, rule, size));
	}
	procfs_printf(out, "\n");
	return 0;
}

int make_task_statm(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	uint64_t size = INIT_SIZE_KIB / PAGE_KIB, code = 0, data = 0;

	if (procfs_native(who, &text) != 0)
		return -1;
	if (who->pid != 1 && sscanf(text, "%" SCNu64 " %*s %*s %" SCNu64 " %*s %" SCNu64, &size,
				     &code, &data) != 3)
		size = 0;
	procfs_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " 0\n",
		size, resident(size), resident(size) / 2, code, data);
	return 0;
}

int make_task_io(const struct procfs_who *who, struct bytes *out)
{
	(void)who;
	procfs_printf(out, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\n"
			   "write_bytes: 0\ncancelled_write_bytes: 0\n");
	return 0;
}

int make_task_sched(const struct procfs_who *who, struct bytes *out)
{
	char comm[32] = "";
	autofree char *text = NULL;

	if (procfs_native(who, &text) != 0)
		return -1;
	if (sscanf(text, "%31[^(\n]", comm) != 1)
		comm[0] = '\0';
	procfs_printf(out, "%s(%d, #threads: %d)\n", comm, who->pid,
		who->process != NULL ? who->process->tasks : 1);
	procfs_printf(out, "nr_switches : 0\nnr_voluntary_switches : 0\n"
			   "nr_involuntary_switches : 0\npolicy : 0\nprio : 120\n");
	return 0;
}

/*
 * What a process inherits from whoever started us, until it sets its own: while it is as ours,
 * which the host chose, it is shown as the kernel's first process has it.
 */
int make_task_inherited(const struct procfs_who *who, struct bytes *out)
{
	static const char *const first[][2] = {
		{"coredump_filter", "00000033\n"}, {"oom_adj", "0\n"}, {"oom_score_adj", "0\n"}};
	const char *name = strrchr(who->path, '/') + 1;
	char path[64];
	struct procfs_who ours = {.path = path};
	autofree char *text = NULL, *own = NULL;

	(void)snprintf(path, sizeof(path), "/proc/self/%s", name);
	if (procfs_native(who, &text) != 0 || procfs_native(&ours, &own) != 0)
		return -1;
	for (size_t i = 0; strcmp(text, own) == 0 && i < ARRAY_LEN(first); i++)
		if (strcmp(name, first[i][0]) == 0) {
			procfs_printf(out, "%s", first[i][1]);
			return 0;
		}
	procfs_printf(out, "%s", text);
	return 0;
}

/* How many pages of a mapping are where is a matter of the host; policy and file are not. */
int make_task_numa_maps(const struct procfs_who *who, struct bytes *out)
{
	static const char *const kept[] = {"file=", "heap", "stack", "huge"};
	autofree char *text = NULL;
	char *rest = NULL, *line = NULL, *word = NULL;

	if (procfs_native(who, &text) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		for (int n = 0; (word = strsep(&line, " ")) != NULL; n++) {
			bool shown = n < 2; /* address and policy */

			for (size_t i = 0; i < ARRAY_LEN(kept); i++)
				shown |= strncmp(word, kept[i], strlen(kept[i])) == 0;
			if (shown && word[0] != '\0')
				procfs_printf(out, "%s%s", n > 0 ? " " : "", word);
		}
		if (rest != NULL)
			procfs_printf(out, "\n");
	}
	return 0;
}

/* Device and inode of a mapping's file: as stat shows the file, if it still has its name. */
static uint64_t mapped_ino(uint32_t major, uint32_t minor, uint64_t ino, const char *path)
{
	struct statx stx;

	if (ino == 0)
		return 0;
	if (path[0] == '/' && statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &stx) == 0)
		return inode_get(&stx)->number;
	return inode_get_pair(major, minor, ino)->number;
}

static bool put_mapping(const char *line, struct bytes *out)
{
	char range[64], mode[8], offset[32];
	uint32_t major = 0, minor = 0;
	uint64_t ino = 0;
	int path = 0, head = 0;
	char start[128];

	if (sscanf(line, "%63[0-9a-f-] %7s %31[0-9a-f] %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n %n",
		    range, mode, offset, &major, &minor, &ino, &head, &path) != 6)
		return false;
	ino = mapped_ino(major, minor, ino, line + path);
	head = snprintf(start, sizeof(start), "%s %s %s %s %" PRIu64 " ", range, mode, offset,
		ino != 0 ? "00:01" : "00:00", ino);
	if (line[path] == '\0')
		procfs_printf(out, "%s\n", start);
	else /* the kernel pads to this column */
		procfs_printf(out, "%-73s%s\n", start, line + path);
	return head > 0;
}

int make_task_maps(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	char *rest = NULL, *line = NULL;

	if (procfs_native(who, &text) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		if (line[0] != '\0' && !put_mapping(line, out))
			procfs_printf(out, "%s\n", line);
	return 0;
}

/* smaps and smaps_rollup: what is resident is a matter of the host; the sizes are not. */
int make_task_smaps(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	char *rest = NULL, *line = NULL;

	if (procfs_native(who, &text) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		size_t name = strcspn(line, ":");
		bool figure = line[name] == ':' && strstr(line, " kB") != NULL;

		if (line[0] == '\0' || put_mapping(line, out))
			continue;
		if (figure && strstr(line, "Size:") == NULL)
			procfs_printf(out, "%.*s:%*d kB\n", (int)name, line, (int)(23 - name), 0);
		else
			procfs_printf(out, "%s\n", line);
	}
	return 0;
}

/* fdinfo/N: the mount's and the inode's numbers are the host's. */
int make_task_fdinfo(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	char *rest = NULL, *line = NULL, link[64];
	auto_path struct path file = PATH_NONE;

	if (procfs_native(who, &text) != 0)
		return -1;
	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%s", who->pid, strrchr(who->path, '/') + 1);
	file.fd = open(link, O_PATH | O_CLOEXEC);
	if (file.fd < 0 || path_stat(&file) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		if (strncmp(line, "pos:", 4) == 0 || strncmp(line, "flags:", 6) == 0)
			procfs_printf(out, "%s\n", line);
	procfs_printf(out, "mnt_id:\t%d\nino:\t%" PRIu64 "\n", 20, view_ino(&file));
	return 0;
}
