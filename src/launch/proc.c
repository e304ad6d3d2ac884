/* SPDX-License-Identifier: Apache-2.0 */
/* /proc, /dev and /tmp of the view: see proc.h. */
#include "launch/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/mounts.h"

/* What tells of the host's kernel, hardware or load and no guest needs. Absent ones are skipped. */
static const char *const masked_files[] = {"kcore", "kallsyms", "keys", "key-users", "kmsg",
	"timer_list", "sysrq-trigger", "cmdline", "bootconfig", "config.gz", "interrupts",
	"softirqs", "iomem", "ioports", "modules", "sched_debug", "schedstat", "latency_stats",
	"kpagecount", "kpageflags", "kpagecgroup", "slabinfo", "vmallocinfo", "allocinfo",
	"pagetypeinfo", "buddyinfo", "zoneinfo", "mtrr", "dma", "partitions", "diskstats", "swaps",
	"mdstat", "lockdep", "locks"};
static const char *const masked_dirs[] = {
	"acpi", "asound", "bus", "driver", "fs", "irq", "pressure", "scsi", "dynamic_debug", "tty"};

int proc_make_stage(int *ret_stage, struct error *err)
{
	static const struct mounts_option options[] = {
		{"size", "16777216"}, {"nr_inodes", "4096"}, {"mode", "0755"}};

	return mounts_new("tmpfs", MOUNTS_WRITABLE, options, ARRAY_LEN(options), ret_stage, err);
}

/* Masks proc/name with from, unless it is not there or its mode keeps the guest out anyway. */
static int mask_one(int stage, const char *from, int proc, const char *name, struct error *err)
{
	struct stat st;

	if (fstatat(proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "stat '/proc/%s'", name);
	if (st.st_uid != geteuid() && (st.st_mode & 0007) == 0)
		return 0;
	return mounts_bind(stage, from, proc, name, MOUNTS_READ_ONLY, err);
}

static int mask(int stage, int proc, struct error *err)
{
	if (mkdirat(stage, "void", 0555) < 0)
		return error_sys(err, "make a mask");
	if (mounts_text(stage, "empty", "", 0, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(masked_files); i++)
		if (mask_one(stage, "empty", proc, masked_files[i], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(masked_dirs); i++)
		if (mask_one(stage, "void", proc, masked_dirs[i], err) < 0)
			return -1;
	/* The mounts hold them; the names are not needed any more. */
	if (unlinkat(stage, "empty", 0) < 0 || unlinkat(stage, "void", AT_REMOVEDIR) < 0)
		return error_sys(err, "remove the masks' names");
	return 0;
}

int proc_attach(int stage, int root, struct error *err)
{
	autoclose int tree = -1, proc = -1;

	if (mounts_new("proc", MOUNTS_WRITABLE, NULL, 0, &tree, err) < 0)
		return error_wrap(err, "the kernel refuses a fresh /proc (is the host's own /proc "
				       "partly masked, as in a "
				       "container? run it with an unmasked /proc)");
	if (mounts_attach(tree, root, "proc", err) < 0)
		return -1;
	proc = openat(root, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return error_sys(err, "open the new /proc");
	if (mask(stage, proc, err) < 0)
		return -1;
	return mounts_bind(proc, "sys", proc, "sys", MOUNTS_READ_ONLY, err);
}

int proc_attach_tmp(const struct plan *p, int dir, const char *name, struct error *err)
{
	const struct mounts_option options[] = {
		{"size", p->tmp_size}, {"nr_inodes", p->tmp_inodes}, {"mode", "1777"}};
	autoclose int tree = -1;

	if (mounts_new("tmpfs", MOUNTS_WRITABLE, options, ARRAY_LEN(options), &tree, err) < 0)
		return -1;
	return mounts_attach(tree, dir, name, err);
}

static int attach_pts(int dev, struct error *err)
{
	/* Always an instance of its own. No gid: the only one that exists inside is the guest's. */
	static const struct mounts_option options[] = {{"mode", "0620"}, {"ptmxmode", "0666"}};
	autoclose int tree = -1;

	if (mkdirat(dev, "pts", 0755) < 0)
		return error_sys(err, "make /dev/pts");
	if (mounts_new("devpts", MOUNTS_DEVICE, options, ARRAY_LEN(options), &tree, err) < 0)
		return -1;
	return mounts_attach(tree, dev, "pts", err);
}

int proc_fill_dev(const struct plan *p, int dev, struct error *err)
{
	static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
	static const char *const links[][2] = {{"/proc/self/fd", "fd"},
		{"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"},
		{"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}};
	autoclose int host = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (host < 0)
		return error_sys(err, "open '/dev'");
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
		if (mounts_text(dev, nodes[i], "", 0, err) < 0)
			return -1;
		if (mounts_bind(host, nodes[i], dev, nodes[i], MOUNTS_DEVICE, err) < 0)
			return error_wrap(err, "/dev/%s", nodes[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (symlinkat(links[i][0], dev, links[i][1]) < 0)
			return error_sys(err, "make /dev/%s", links[i][1]);
	if (attach_pts(dev, err) < 0)
		return -1;
	if (mkdirat(dev, "shm", 01777) < 0)
		return error_sys(err, "make /dev/shm");
	return proc_attach_tmp(p, dev, "shm", err);
}
