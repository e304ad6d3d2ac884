/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount tables of /proc/PID: mount points, types and what a program can act on. Where a mount
 * came from on the host, its options and its number there are not the guest's affair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervise/main.h"
#include "supervise/proc/make.h"

enum { MOUNT_FIRST = 20 };

/* One line of mountinfo, cut into its words. */
struct mount {
	long id, parent;
	const char *point, *options, *type;
};

static bool cut(char *line, struct mount *ret)
{
	char *words[8] = {NULL}, *word = NULL;
	char *rest = line;
	int count = 0;

	while (count < 6 && (word = strsep(&rest, " ")) != NULL)
		words[count++] = word;
	/* Optional fields follow, then a lone hyphen and the type. */
	while (rest != NULL && (word = strsep(&rest, " ")) != NULL && strcmp(word, "-") != 0)
		;
	word = strsep(&rest, " ");
	if (count < 6 || word == NULL || sscanf(words[0], "%ld", &ret->id) != 1 ||
		sscanf(words[1], "%ld", &ret->parent) != 1)
		return false;
	ret->point = words[4];
	ret->options = words[5];
	ret->type = word;
	return true;
}

/* Of the options, those that say what may be done there. */
static void put_options(const char *options, struct bytes *out)
{
	static const char *const shown[] = {"nosuid", "nodev", "noexec"};

	procfs_printf(out, "%s", strncmp(options, "ro", 2) == 0 ? "ro" : "rw");
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (strstr(options, shown[i]) != NULL)
			procfs_printf(out, ",%s", shown[i]);
}

typedef void put_mount(const struct mount *m, long number, long parent, struct bytes *out);

static void put_mountinfo(const struct mount *m, long number, long parent, struct bytes *out)
{
	procfs_printf(out, "%ld %ld 0:1 / %s ", number, parent, m->point);
	put_options(m->options, out);
	procfs_printf(out, " - %s %s %s\n", m->type, m->type,
		strncmp(m->options, "ro", 2) == 0 ? "ro" : "rw");
}

static void put_mounts(const struct mount *m, long number, long parent, struct bytes *out)
{
	(void)number;
	(void)parent;
	procfs_printf(out, "%s %s %s ", m->type, m->point, m->type);
	put_options(m->options, out);
	procfs_printf(out, " 0 0\n");
}

static void put_mountstats(const struct mount *m, long number, long parent, struct bytes *out)
{
	(void)number;
	(void)parent;
	procfs_printf(out, "device %s mounted on %s with fstype %s\n", m->type, m->point, m->type);
}

/* As the kernel writes a path in these tables: blanks and backslashes in octal (caller frees). */
static char *escape(const char *path)
{
	auto_bytes struct bytes out = {0};

	for (const char *p = path; *p != '\0'; p++)
		if (strchr(" \t\n\\#", *p) != NULL)
			procfs_printf(&out, "\\%03o", (unsigned)(unsigned char)*p);
		else
			bytes_put_u8(&out, (uint8_t)*p);
	bytes_put_u8(&out, 0);
	return mem_strdup((const char *)out.data);
}

static long place_of(const struct mount *list, size_t count, long id)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].id == id)
			return MOUNT_FIRST + (long)i;
	return 1; /* outside our view */
}

/* Our /sys, if it is a mount at all: it is shown as what it stands for, and has no number. */
static bool is_sys(const char *point)
{
	return strcmp(point, "/sys") == 0;
}

/* Programs find the limits of their control group by its mount. */
static void put_sys(put_mount *put, long number, long root, struct bytes *out)
{
	static const char options[] = "ro,nosuid,nodev,noexec";
	const struct mount sysfs = {.point = "/sys", .options = options, .type = "sysfs"};
	const struct mount cgroup = {
		.point = "/sys/fs/cgroup", .options = options, .type = "cgroup2"};

	put(&sysfs, number, root, out);
	put(&cgroup, number + 1, number, out);
}

/*
 * With a root of its own a guest sees the same table whoever made the container: what each is made
 * of differs, and what can be done there does not.
 */
static void put_fixed(put_mount *put, struct bytes *out)
{
	static const struct mount fixed[] = {
		{1, 0, "/", "ro,nosuid,nodev", "overlay"},
		{2, 1, "/dev", "ro,nosuid,nodev", "tmpfs"},
		{3, 2, "/dev/pts", "rw,nosuid,noexec", "devpts"},
		{4, 2, "/dev/shm", "rw,nosuid,nodev", "tmpfs"},
		{5, 1, "/proc", "rw,nosuid,nodev", "proc"},
		{6, 1, "/tmp", "rw,nosuid,nodev", "tmpfs"},
	};
	const struct contract *c = contract_get();
	long number = MOUNT_FIRST;

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++, number++)
		put(&fixed[i], number, fixed[i].parent ? MOUNT_FIRST + fixed[i].parent - 1 : 1,
			out);
	for (size_t i = 0; i < c->bind_count; i++, number++) {
		autofree char *point = escape(c->binds[i].dest);
		const struct mount bind = {.point = point,
			.options = c->binds[i].writable ? "rw,nosuid,nodev" : "ro,nosuid,nodev",
			.type = "ext4"};

		put(&bind, number, MOUNT_FIRST, out);
	}
	if (c->copy_dir != NULL) {
		autofree char *point = escape(c->copy_dir);
		const struct mount copy = {
			.point = point, .options = "rw,nosuid,nodev", .type = "overlay"};

		put(&copy, number++, MOUNT_FIRST, out);
	}
	put_sys(put, number, MOUNT_FIRST, out);
}

static int make(const struct procfs_who *who, put_mount *put, struct bytes *out)
{
	char path[64];
	struct procfs_who mountinfo = *who;
	autofree char *text = NULL;
	autofree struct mount *list = NULL;
	char *rest = NULL, *line = NULL;
	size_t count = 0, room = 0;

	if (contract_get()->rootfs != NULL) {
		put_fixed(put, out);
		return 0;
	}
	/* Every table is made from the richest one; all processes share one set of mounts. */
	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", who->pid);
	mountinfo.path = path;
	if (procfs_native(&mountinfo, &text) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		if (count == room) {
			room = room == 0 ? 64 : room * 2;
			list = mem_grow(list, room, sizeof(*list));
		}
		if (line[0] != '\0' && cut(line, &list[count]) && !is_sys(list[count].point))
			count++;
	}
	for (size_t i = 0; i < count; i++)
		put(&list[i], MOUNT_FIRST + (long)i, place_of(list, count, list[i].parent), out);
	put_sys(put, MOUNT_FIRST + (long)count, MOUNT_FIRST, out);
	return 0;
}

int make_mountinfo(const struct procfs_who *who, struct bytes *out)
{
	return make(who, put_mountinfo, out);
}

int make_mounts(const struct procfs_who *who, struct bytes *out)
{
	return make(who, put_mounts, out);
}

int make_mountstats(const struct procfs_who *who, struct bytes *out)
{
	return make(who, put_mountstats, out);
}
