/* SPDX-License-Identifier: Apache-2.0 */
/* Private directories of trials: see tree.h. A name tells whose it is: PID-START-RANDOM. */
#include "trial/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/proc.h"
#include "base/random.h"
#include "base/remove.h"
#include "base/str.h"

enum { TREES_MAX = 100000, RANDOM_DIGITS = 16 };

/* Whether the process that a name tells of lives: what is no such name is left alone. */
static bool is_left(const char *name)
{
	autofree char *copy = mem_strdup(name);
	char *dash = strchr(copy, '-'), *second = dash ? strchr(dash + 1, '-') : NULL;
	struct proc_stat st;
	uint64_t pid, start;

	if (!second)
		return false;
	*dash = *second = '\0';
	if (num_parse_u64(copy, INT32_MAX, &pid, NULL) < 0 ||
		num_parse_u64(dash + 1, UINT64_MAX, &start, NULL) < 0)
		return false;
	return !proc_stat_read((int64_t)pid, &st) || st.start != start;
}

/* What killed trials left. Whatever cannot be removed stays for the next. */
static void sweep(int work)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(work, TREES_MAX, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (is_left(names.items[i]))
			(void)!remove_tree(work, names.items[i], NULL);
}

int tree_open(const char *work, struct tree *ret, struct error *err)
{
	struct proc_stat st = {0};
	char random[RANDOM_DIGITS + 1];

	*ret = (struct tree){.work = -1};
	if (dir_make(work, err) < 0)
		return -1;
	ret->work = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->work < 0)
		return error_sys(err, "open '%.300s'", work);
	sweep(ret->work);
	random_hex(random, RANDOM_DIGITS);
	(void)proc_stat_read(getpid(), &st);
	ret->name = str_format("%d-%llu-%s", (int)getpid(), (unsigned long long)st.start, random);
	ret->path = str_format("%s/%s", work, ret->name);
	if (mkdirat(ret->work, ret->name, 0700) < 0)
		return error_sys(err, "make '%.300s'", ret->path);
	return 0;
}

int tree_make(struct tree *t, size_t number, char **ret_path, int *ret_fd, struct error *err)
{
	autofree char *path = str_format("%s/%zu", t->path, number);

	if (mkdir(path, 0755) < 0)
		return error_sys(err, "make '%.300s'", path);
	*ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Whatever the umask is. */
	if (*ret_fd < 0 || fchmod(*ret_fd, 0755) < 0)
		return error_sys(err, "open '%.300s'", path);
	*ret_path = take_ptr(path);
	return 0;
}

void tree_close(struct tree *t)
{
	if (t->work >= 0 && t->name)
		(void)!remove_tree(t->work, t->name, NULL);
	fd_close(&t->work);
	free(t->name);
	free(t->path);
	*t = (struct tree){.work = -1};
}
