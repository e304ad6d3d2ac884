/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that init needs between clone and exec, worked out beforehand by the launcher so that
 * init neither allocates nor formats.
 */
#ifndef LAUNCH_PLAN_H
#define LAUNCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"
#include "launch/cgroup.h"
#include "launch/idmap.h"
#include "launch/launch.h"
#include "launch/sys_kept.h"
#include "wire/contract.h"

enum plan_kind { PLAN_READ_ONLY, PLAN_WRITABLE, PLAN_COPY };

/* One directory or file of the host shown inside. */
struct plan_place {
	const char *source, *dest; /* borrowed from the contract, or the plan's copy_source */
	enum plan_kind kind;
	bool directory;
	int tree;    /* detached mounts made by a privileged launcher, or -1: init makes them */
	bool absent; /* of a copy: nothing is at source, it begins empty */
	bool mapped; /* the owner of source is the guest, or the true ids are shown anyway */
	mode_t mode;
	struct timespec mtime;
};

/* A name of the host's /etc that the view shows. */
struct plan_etc {
	char *path;	  /* "/etc/..." */
	const char *name; /* in it, what follows "/etc/" */
	mode_t type;
};

struct plan {
	const struct launch_spec *spec;
	const struct contract *contract;
	const struct cgroup *cgroup; /* borrowed */
	struct idmap ids;
	struct plan_place *places; /* parents before what is in them */
	size_t place_count;
	const struct plan_place *copy; /* among places, or NULL */
	char *copy_source;	       /* or NULL */
	int rootfs_tree;	       /* like plan_place.tree */
	struct plan_etc *etc;
	size_t etc_count;
	char tmp_size[24], tmp_inodes[24], copy_size[24], copy_inodes[24], last_pid[24];
	char **texts; /* in the order of etc_files */
	struct sys_kept sys;
	char **sys_texts;
};

/* Refuses what cannot be shown: a bind source or a copy_dir that is not there, say. */
MUST_CHECK int plan_init(struct plan *ret, const struct launch_spec *spec,
	const struct cgroup *cgroup, struct error *err);
void plan_finish(struct plan *p);
#define auto_plan CLEANUP(plan_finish)

#endif
