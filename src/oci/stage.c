/* SPDX-License-Identifier: Apache-2.0 */
/* What a container is given from this host: see stage.h. */
#include "oci/stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "launch/etc.h"
#include "launch/sys.h"
#include "oci/profile.h"
#include "oci/removal.h"

/* What is shown where the engine does not answer: a run without determinism. */
static const char cpuinfo[] = "processor\t: 0\n"
			      "model name\t: Sandglass\n"
			      "cpu cores\t: 1\n\n";

int stage_init(struct stage *ret, struct error *err)
{
	const char *top = getenv("TMPDIR");
	autofree char *dir =
		str_format("%s/sandglass-run-XXXXXX", top && top[0] == '/' ? top : "/tmp");

	/* Of mode 0700, so that nobody of this host reaches the socket. */
	if (!mkdtemp(dir))
		return error_sys(err, "make a directory '%s'", dir);
	*ret = (struct stage){.dir = take_ptr(dir), .listener = -1, .janitor = JANITOR_NONE};
	return 0;
}

static int write_text(int dir, const char *name, const char *text, struct error *err)
{
	autoclose int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_sys(err, "make '%s'", name);
	/* Whatever the umask: the guest reads it. */
	if (fchmod(fd, 0444) < 0)
		return error_sys(err, "chmod '%s'", name);
	return fd_write_all(fd, text, strlen(text), err);
}

static int make_dir(int dir, const char *name, int *ret_fd, struct error *err)
{
	if (mkdirat(dir, name, 0755) < 0)
		return error_sys(err, "make '%s'", name);
	*ret_fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0 || fchmod(*ret_fd, 0755) < 0)
		return error_sys(err, "open '%s'", name);
	return 0;
}

static int listen_in(int dir, int *ret_fd, struct error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* However long the path is. */
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" STAGE_SOCKET, dir);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		return error_sys(err, "listen for the supervisor");
	if (fchmodat(dir, STAGE_SOCKET, 0666, 0) < 0)
		return error_sys(err, "open the socket to the guest's user");
	*ret_fd = take_fd(fd);
	return 0;
}

static int fill_etc(int dir, const struct contract *c, struct error *err)
{
	autoclose int etc = -1;

	if (make_dir(dir, STAGE_ETC, &etc, err) < 0)
		return -1;
	for (size_t i = 0; i < etc_file_count; i++) {
		autofree char *text = etc_files[i].replaces ? etc_text(&etc_files[i], c) : NULL;

		if (text && write_text(etc, etc_files[i].name, text, err) < 0)
			return -1;
	}
	return 0;
}

static int fill_sys(int dir, const struct contract *c, struct error *err)
{
	char **texts = sys_texts_new(c);
	autoclose int sys = -1;
	int r = make_dir(dir, STAGE_SYS, &sys, err);

	if (r == 0)
		r = sys_fill(sys, texts, c->deterministic, err);
	/* The runtime's own control groups are not shown, so the place has to be there. */
	if (r == 0 && !c->deterministic &&
		(mkdirat(sys, "fs", 0755) < 0 || mkdirat(sys, "fs/cgroup", 0755) < 0))
		r = error_sys(err, "make /sys/fs/cgroup");
	sys_texts_free(texts);
	return r;
}

static int fill(struct stage *s, int dir, const struct contract *c, struct error *err)
{
	auto_json json_t *profile = profile_json();
	autofree char *text = json_text(profile);
	autoclose int inside = -1;

	if (write_text(dir, STAGE_PROFILE, text, err) < 0 ||
		write_text(dir, STAGE_CPUINFO, cpuinfo, err) < 0 || fill_etc(dir, c, err) < 0 ||
		fill_sys(dir, c, err) < 0 || make_dir(dir, STAGE_INSIDE, &inside, err) < 0 ||
		write_text(inside, STAGE_SUPERVISOR, "", err) < 0)
		return -1;
	return listen_in(inside, &s->listener, err);
}

int stage_fill(struct stage *s, const struct contract *c, struct error *err)
{
	autoclose int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mode_t before = umask(022);
	int r = dir < 0 ? error_sys(err, "open '%s'", s->dir) : fill(s, dir, c, err);

	umask(before);
	return r < 0 ? error_wrap(err, "prepare the container") : 0;
}

void stage_close(struct stage *s)
{
	fd_close(&s->listener);
}

static void remove_dir(const char *path)
{
	struct error ignored;

	(void)!remove_tree(AT_FDCWD, path, &ignored);
}

static void remove_stage(const void *dir)
{
	remove_dir(dir);
}

int stage_guard(struct stage *s, const struct words *removal, struct error *err)
{
	const struct removal r = {removal, remove_stage, s->dir};

	return janitor_start(&s->janitor, removal_persist, &r, err);
}

void stage_finish(struct stage *s)
{
	stage_close(s);
	if (s->dir)
		remove_dir(s->dir);
	janitor_finish(&s->janitor);
	free(s->dir);
	*s = STAGE_NONE;
}
