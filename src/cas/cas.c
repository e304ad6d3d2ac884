/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a store, and clearing away what killed writers left: see cas.h. */
#include "cas/cas.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "cas/inside.h"

enum { SWEEP_MAX = 100000 };

static int open_below(const struct cas *c, const char *name, int *ret, struct error *err)
{
	if (mkdirat(c->root, name, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "make '%s' in the store", name);
	*ret = openat(c->root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? error_sys(err, "open '%s' of the store", name) : 0;
}

/* Files whose lock is free belong to nobody that lives. */
static int sweep(int dir, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(dir, SWEEP_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct stat st, now;
		autoclose int fd = cas_file_open(dir, names.items[i], &st);

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
			fstatat(dir, names.items[i], &now, AT_SYMLINK_NOFOLLOW) == 0 &&
			now.st_ino == st.st_ino && now.st_dev == st.st_dev)
			unlinkat(dir, names.items[i], 0);
	}
	return 0;
}

static int open_parts(struct cas *c, struct error *err)
{
	autoclose int lock = -1;

	/* Who only reads may not be let in there. */
	if (c->mode == CAS_READ)
		return 0;
	if (open_below(c, "tmp", &c->tmp, err) < 0 || open_below(c, "pins", &c->pins, err) < 0)
		return -1;
	lock = openat(
		c->root, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (lock < 0)
		return error_sys(err, "make the store's lock");
	return sweep(c->tmp, err) < 0 || sweep(c->pins, err) < 0 ? -1 : 0;
}

int cas_open(const char *dir, enum cas_mode mode, struct cas **ret, struct error *err)
{
	auto_cas struct cas *c = mem_alloc(sizeof(*c));

	*c = (struct cas){.mode = mode, .root = -1, .tmp = -1, .pins = -1, .pin = -1};
	if (mode == CAS_WRITE && dir_make(dir, err) < 0)
		return -1;
	c->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->root < 0)
		return error_sys(err, "open the store '%.300s'", dir);
	if (open_parts(c, err) < 0)
		return error_wrap(err, "store '%.200s'", dir);
	*ret = take_ptr(c);
	return 0;
}

void cas_close(struct cas *c)
{
	if (!c)
		return;
	if (c->pin >= 0)
		unlinkat(c->pins, c->pin_name, 0);
	fd_close(&c->pin);
	fd_close(&c->pins);
	fd_close(&c->tmp);
	fd_close(&c->root);
	free(c);
}

void cas_cleanup(struct cas **c)
{
	cas_close(*c);
	*c = NULL;
}
