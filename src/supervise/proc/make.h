/* SPDX-License-Identifier: Apache-2.0 */
/* The makers behind procfs.c's tables; one content each. */
#ifndef SUPERVISE_PROCFS_MAKE_H
#define SUPERVISE_PROCFS_MAKE_H

#include "base/attr.h"
#include "base/bytes.h"
#include "supervise/engine/task.h"

/* Who is looked at by whom. */
struct procfs_who {
	struct task *reader;
	const char *path;	 /* the kernel's own file */
	pid_t pid;		 /* the process; 0: a file of the whole system */
	pid_t tid;		 /* the thread: as pid unless the path names one */
	struct process *process; /* NULL: init */
	struct task *task;	 /* NULL: init or dead */
};

/* 0 or -1 with errno. */
typedef int procfs_maker(const struct procfs_who *who, struct bytes *out);

void procfs_printf(struct bytes *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The kernel's own text of the file, with a NUL after it (caller frees). */
MUST_CHECK int procfs_native(const struct procfs_who *who, char **ret_text);

/* proc/system.c */
procfs_maker make_boot_id, make_cpuinfo, make_loadavg, make_meminfo, make_stat, make_uptime,
	make_uuid, make_hostname, make_vmstat;
/* proc/task.c */
procfs_maker make_task_fdinfo, make_task_io, make_task_sched, make_task_stat, make_task_statm,
	make_task_status, make_task_maps, make_task_smaps, make_task_inherited, make_task_numa_maps,
	make_task_limits;
/* proc/net.c */
procfs_maker make_net_inet, make_net_unix;
/* proc/sysvipc.c */
procfs_maker make_sysvipc_msg, make_sysvipc_sem, make_sysvipc_shm;
/* proc/mounts.c */
procfs_maker make_mountinfo, make_mounts, make_mountstats;

#endif
