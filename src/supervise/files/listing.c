/* SPDX-License-Identifier: Apache-2.0 */
/* Directories read whole: see listing.h. */
#include "supervise/proc/procfs.h"
#include "supervise/files/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervise/files/foreign.h"
#include "supervise/files/inode.h"
#include "supervise/files/path.h"
#include "supervise/files/view.h"

enum {
	LISTINGS = 64,	       /* kept at once; the one used longest ago goes first */
	KEPT_MAX = 2 << 20,    /* bytes in all of them but the newest */
	RAW_SIZE = 64 * 1024,  /* one read of the kernel's */
	BYTES_MAX = 256 << 20, /* of names in one directory; ENOMEM beyond */
	NAME_AT = offsetof(struct dirent64, d_name),
};

struct entry {
	uint64_t ino;
	uint32_t name; /* offset in names */
	uint8_t type;
};

struct listing {
	/* Whose it is: the same descriptor of the same process, or else one that shares its
	 * position. */
	uint32_t process;
	int fd;
	uint64_t dir; /* the directory's virtual inode number; 0: no listing */
	int64_t position;
	uint64_t used;
	struct entry *entries;
	uint32_t count, room;
	struct bytes names;
};

static struct listing listings[LISTINGS];
static uint64_t listing_clock;

static void listing_clear(struct listing *l)
{
	free(l->entries);
	bytes_finish(&l->names);
	*l = (struct listing){0};
}

uint32_t listing_count(const struct listing *l)
{
	return l->count;
}

void listing_reached(struct listing *l, int64_t position)
{
	l->position = position;
}

static void add_raw(struct listing *l, const struct dirent64 *d)
{
	if (l->count == l->room) {
		l->room = l->room == 0 ? 64 : l->room * 2;
		l->entries = mem_grow(l->entries, l->room, sizeof(*l->entries));
	}
	l->entries[l->count++] = (struct entry){d->d_ino, (uint32_t)l->names.len, d->d_type};
	bytes_put(&l->names, d->d_name, strlen(d->d_name) + 1);
}

/* All entries as the kernel gives them. 0 or -1 with errno. */
static int read_raw(struct listing *l, int own)
{
	static _Alignas(struct dirent64) char raw[RAW_SIZE];

	if (lseek(own, 0, SEEK_SET) < 0)
		return -1;
	for (;;) {
		long got = syscall(SYS_getdents64, own, raw, sizeof(raw));

		if (got <= 0)
			return (int)got;
		for (long at = 0; at < got;) {
			const struct dirent64 *d = (const void *)(raw + at);

			add_raw(l, d);
			at += d->d_reclen;
		}
		if (l->names.len > BYTES_MAX) {
			errno = ENOMEM;
			return -1;
		}
	}
}

static const unsigned char *sort_names; /* qsort has no argument for it */

static int rank(const char *name)
{
	return strcmp(name, ".") == 0 ? 0 : strcmp(name, "..") == 0 ? 1 : 2;
}

static int compare(const void *left, const void *right)
{
	const char *a = (const char *)sort_names + ((const struct entry *)left)->name;
	const char *b = (const char *)sort_names + ((const struct entry *)right)->name;
	int by_rank = rank(a) - rank(b);

	return by_rank != 0 ? by_rank : strcmp(a, b);
}

/* Numbers an entry of an ordinary directory as stat would. */
static uint64_t number_plain(int own, const char *name, const struct statx *dir, uint64_t ino)
{
	struct path p = {.fd = own};
	char link[64 + NAME_MAX];

	if (statx(own, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME,
		    &p.stx) != 0)
		return inode_get_pair(dir->stx_dev_major, dir->stx_dev_minor, ino)->number;
	if (p.stx.stx_dev_minor == dir->stx_dev_minor && p.stx.stx_dev_major == dir->stx_dev_major)
		return inode_get(&p.stx)->number;
	/* Another file system is mounted here: /proc and /sys are numbered by their paths. */
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d/%s", own, name);
	auto_path struct path there = {.fd = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC)};
	if (there.fd < 0 || path_stat(&there) != 0)
		return inode_get(&p.stx)->number;
	return view_ino(&there);
}

/* The path of an entry of a directory of /proc or /sys; false for what leads out of them. */
static bool entry_path(const char *dir, const char *entry, char *ret, size_t size)
{
	const char *slash = strrchr(dir, '/');

	if (strcmp(entry, "..") == 0 && slash == dir)
		return false;
	if (strcmp(entry, "..") == 0)
		(void)snprintf(ret, size, "%.*s", (int)(slash - dir), dir);
	else if (strcmp(entry, ".") == 0)
		(void)snprintf(ret, size, "%s", dir);
	else
		(void)snprintf(ret, size, "%s/%s", dir, entry);
	return true;
}

static bool is_hidden(int dir, const char *entry)
{
	char name[PATH_MAX], whole[PATH_MAX + NAME_MAX + 2];

	if (!path_name(dir, name))
		return false;
	(void)snprintf(whole, sizeof(whole), "%s/%s", strcmp(name, "/") == 0 ? "" : name, entry);
	return foreign_is_hidden(whole);
}

static void number_entries(struct listing *l, const struct path *dir)
{
	char name[PATH_MAX], whole[PATH_MAX + NAME_MAX + 2];
	bool by_path = (dir->kind == FS_PROC || dir->kind == FS_SYS) && path_name(dir->fd, name);

	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->count; i++) {
		struct entry e = l->entries[i];
		const char *text = (const char *)l->names.data + e.name;

		if (foreign_is_name(text) && is_hidden(dir->fd, text))
			continue;
		if (by_path && entry_path(name, text, whole, sizeof(whole))) {
			if (procfs_is_absent(whole))
				continue;
			e.ino = inode_of_path(whole);
		} else
			e.ino = number_plain(dir->fd, text, &dir->stx, e.ino);
		l->entries[kept++] = e;
	}
	l->count = kept;
}

static size_t listing_size(const struct listing *l)
{
	return l->names.room + l->room * sizeof(*l->entries);
}

/* Keeps what is remembered within bounds; a listing that is missed is read again. */
static void drop_old(const struct listing *newest)
{
	for (;;) {
		struct listing *oldest = NULL;
		size_t all = 0;

		for (unsigned k = 0; k < LISTINGS; k++) {
			struct listing *l = &listings[k];

			if (l == newest || l->dir == 0)
				continue;
			all += listing_size(l);
			if (oldest == NULL || l->used < oldest->used)
				oldest = l;
		}
		if (all <= KEPT_MAX)
			return;
		listing_clear(oldest);
	}
}

static struct listing *listing_read(struct task *t, int fd, const struct path *dir, uint64_t number)
{
	struct listing *l = &listings[0];

	for (unsigned k = 0; k < LISTINGS; k++) {
		struct listing *other = &listings[k];

		if (other->process == t->proc->ordinal && other->fd == fd && other->dir == number) {
			l = other;
			break;
		}
		if (other->used < l->used)
			l = other;
	}
	listing_clear(l);
	if (read_raw(l, dir->fd) != 0) {
		int saved = errno;

		listing_clear(l);
		errno = saved;
		return NULL;
	}
	if (l->count != 0) {
		sort_names = l->names.data;
		qsort(l->entries, l->count, sizeof(*l->entries), compare);
	}
	number_entries(l, dir);
	l->process = t->proc->ordinal;
	l->fd = fd;
	l->dir = number;
	l->used = ++listing_clock;
	drop_old(l);
	return l;
}

/* How well a kept listing fits: the same descriptor, one that stands where it was left, any. */
static unsigned fitness(
	const struct listing *l, struct task *t, int fd, uint64_t dir, int64_t position)
{
	if (l->dir != dir)
		return 0;
	if (l->process == t->proc->ordinal && l->fd == fd)
		return 3;
	return l->position == position ? 2 : 1;
}

struct listing *listing_get(struct task *t, int fd, int own, int64_t position)
{
	struct path dir = {.fd = own}; /* borrowed */
	struct listing *best = NULL;
	unsigned best_fit = 0;
	uint64_t number = 0;

	if (path_stat(&dir) != 0)
		return NULL;
	if (!S_ISDIR(dir.stx.stx_mode)) {
		errno = ENOTDIR;
		return NULL;
	}
	number = view_ino(&dir);
	for (unsigned k = 0; position != 0 && k < LISTINGS; k++) {
		unsigned fit = fitness(&listings[k], t, fd, number, position);

		if (fit > best_fit) {
			best_fit = fit;
			best = &listings[k];
		}
	}
	if (best == NULL)
		return listing_read(t, fd, &dir, number);
	best->used = ++listing_clock;
	return best;
}

size_t listing_put(const struct listing *l, uint32_t i, unsigned char *out, size_t room)
{
	const struct entry *e = &l->entries[i];
	const char *name = (const char *)l->names.data + e->name;
	size_t len = strlen(name) + 1;
	size_t size = (NAME_AT + len + 7) / 8 * 8;
	struct dirent64 head;

	if (size > room)
		return 0;
	memset(out, 0, size);
	memset(&head, 0, sizeof(head));
	head.d_ino = e->ino;
	head.d_off = i + 1;
	head.d_reclen = (unsigned short)size;
	head.d_type = e->type;
	memcpy(out, &head, NAME_AT);
	memcpy(out + NAME_AT, name, len);
	return size;
}
