/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc about the whole system: figures of the contract and of the logical clock. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/entropy.h"
#include "supervise/main.h"
#include "supervise/proc/make.h"

enum { ENTROPY_BOOT_ID = 0 }; /* docs/format/contract */

#define NS_PER_TICK 10000000u /* USER_HZ is 100 */
#define NS_PER_S 1000000000u

int make_boot_id(const struct procfs_who *who, struct bytes *out)
{
	unsigned char random[16];
	char text[37];

	(void)who;
	entropy_fixed(ENTROPY_BOOT_ID, random, sizeof(random));
	entropy_uuid(random, text);
	procfs_printf(out, "%s\n", text);
	return 0;
}

int make_uuid(const struct procfs_who *who, struct bytes *out)
{
	unsigned char random[16];
	char text[37];

	entropy_draw(who->reader, random, sizeof(random));
	entropy_uuid(random, text);
	procfs_printf(out, "%s\n", text);
	return 0;
}

int make_hostname(const struct procfs_who *who, struct bytes *out)
{
	(void)who;
	procfs_printf(out, "%s\n", contract_get()->hostname);
	return 0;
}

int make_uptime(const struct procfs_who *who, struct bytes *out)
{
	uint64_t hundredths = clock_monotonic() / NS_PER_TICK;

	(void)who;
	for (int i = 0; i < 2; i++)
		procfs_printf(out, "%llu.%02u%c", (unsigned long long)(hundredths / 100),
			(unsigned)(hundredths % 100), i == 0 ? ' ' : '\n');
	return 0;
}

static unsigned count_tasks(void)
{
	unsigned n = 1; /* init */

	for (const struct task *t = task_list; t != NULL; t = t->next)
		n++;
	return n;
}

static pid_t last_pid(void)
{
	pid_t last = 1;

	for (const struct task *t = task_list; t != NULL; t = t->next)
		last = t->tid > last ? t->tid : last;
	return last;
}

int make_loadavg(const struct procfs_who *who, struct bytes *out)
{
	(void)who;
	procfs_printf(out, "0.00 0.00 0.00 1/%u %d\n", count_tasks(), last_pid());
	return 0;
}

int make_stat(const struct procfs_who *who, struct bytes *out)
{
	uint64_t now = clock_monotonic(), ticks = now / NS_PER_TICK;
	unsigned processes = 1;

	(void)who;
	for (const struct process *p = process_list; p != NULL; p = p->next)
		processes = p->ordinal + 1 > processes ? p->ordinal + 1 : processes;
	procfs_printf(out, "cpu  0 0 0 %llu 0 0 0 0 0 0\n", (unsigned long long)ticks);
	procfs_printf(out, "cpu0 0 0 0 %llu 0 0 0 0 0 0\n", (unsigned long long)ticks);
	procfs_printf(out, "intr 0\nctxt 0\nbtime %llu\nprocesses %u\n",
		(unsigned long long)((clock_realtime() - now) / NS_PER_S), processes);
	procfs_printf(out, "procs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n");
	return 0;
}

int make_meminfo(const struct procfs_who *who, struct bytes *out)
{
	uint64_t total = contract_get()->memory_bytes / 1024, half = total / 2;
	/* Half is in use by programs, as sysinfo says; nothing is cache or swap. */
	const struct {
		const char *name;
		uint64_t kib;
	} rows[] = {
		{"MemTotal:", total},
		{"MemFree:", half},
		{"MemAvailable:", half},
		{"Buffers:", 0},
		{"Cached:", 0},
		{"SwapCached:", 0},
		{"Active:", total - half},
		{"Inactive:", 0},
		{"Active(anon):", total - half},
		{"Inactive(anon):", 0},
		{"Active(file):", 0},
		{"Inactive(file):", 0},
		{"Unevictable:", 0},
		{"Mlocked:", 0},
		{"SwapTotal:", 0},
		{"SwapFree:", 0},
		{"Dirty:", 0},
		{"Writeback:", 0},
		{"AnonPages:", total - half},
		{"Mapped:", 0},
		{"Shmem:", 0},
		{"KReclaimable:", 0},
		{"Slab:", 0},
		{"SReclaimable:", 0},
		{"SUnreclaim:", 0},
		{"KernelStack:", 0},
		{"PageTables:", 0},
		{"NFS_Unstable:", 0},
		{"Bounce:", 0},
		{"WritebackTmp:", 0},
		{"CommitLimit:", half},
		{"Committed_AS:", total - half},
		{"VmallocTotal:", 34359738367},
		{"VmallocUsed:", 0},
		{"VmallocChunk:", 0},
		{"Percpu:", 0},
		{"AnonHugePages:", 0},
		{"ShmemHugePages:", 0},
		{"ShmemPmdMapped:", 0},
		{"FileHugePages:", 0},
		{"FilePmdMapped:", 0},
	};

	(void)who;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		procfs_printf(
			out, "%-15s %8llu kB\n", rows[i].name, (unsigned long long)rows[i].kib);
	procfs_printf(out, "HugePages_Total:       0\nHugePages_Free:        0\n"
			   "HugePages_Rsvd:        0\nHugePages_Surp:        0\n"
			   "Hugepagesize:       2048 kB\nHugetlb:               0 kB\n");
	return 0;
}

int make_vmstat(const struct procfs_who *who, struct bytes *out)
{
	uint64_t pages = contract_get()->memory_bytes / 4096;

	(void)who;
	procfs_printf(out, "nr_free_pages %llu\n", (unsigned long long)(pages / 2));
	procfs_printf(out, "pgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault 0\npgmajfault 0\n"
			   "oom_kill 0\n");
	return 0;
}
