/* SPDX-License-Identifier: Apache-2.0 */
/* New packs, from the examples of docs/howto/packs: see pack_scaffold. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "pack/pack.h"
#include "pack/templates.h"

#define NO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* The text with each word `from` replaced (caller frees). */
static char *replaced(const char *text, const char *from, const char *to)
{
	auto_bytes struct bytes out = {0};
	const char *found;

	for (; (found = strstr(text, from)); text = found + strlen(from)) {
		bytes_put(&out, text, (size_t)(found - text));
		bytes_put(&out, to, strlen(to));
	}
	bytes_put(&out, text, strlen(text) + 1);
	return mem_take(&out.data);
}

static int write_file(int dir, const char *path, const char *text, struct error *err)
{
	autoclose int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_sys(err, "make '%s'", path);
	return fd_write_all(fd, text, strlen(text), err);
}

/* The shared object, by the system's own compiler. */
static int compile(const char *dir, struct error *err)
{
	extern char **environ;
	autofree char *source = str_format("%s/pack.c", dir),
		      *object = str_format("%s/pack.so", dir);
	char cc[] = "cc", o2[] = "-O2", shared[] = "-shared", pic[] = "-fPIC", out[] = "-o";
	char hidden[] = "-fvisibility=hidden";
	char *const argv[] = {cc, o2, shared, pic, hidden, out, object, source, NULL};
	pid_t pid;
	int status;

	errno = posix_spawnp(&pid, cc, NULL, NULL, argv, environ);
	if (errno == ENOENT)
		return error_set(err, ERR_MISSING,
			"there is no C compiler 'cc': install one (apt-get install gcc)");
	if (errno)
		return error_sys(err, "start the C compiler 'cc'");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_sys(err, "wait for the C compiler");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, ERR_SYSTEM, "the C compiler failed on '%s'", source);
	return 0;
}

static int open_new(const char *dir, int *ret, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int fd = -1;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return error_sys(err, "make '%s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open '%s'", dir);
	if (beneath_list(fd, 1, &names, err) < 0 || names.count)
		return error_set(err, ERR_USAGE,
			"'%s' is not empty: name a directory that is not there yet", dir);
	*ret = take_fd(fd);
	return 0;
}

/* The manifest is written last: it tells the hash of the others. */
static int write_manifest(int dir, const char *text, const char *name, struct error *err)
{
	auto_bundle struct bundle b = {0};
	auto_faults struct faults faults = {0};
	autofree char *named = replaced(text, "example", name), *hashed = NULL;

	if (bundle_take(dir, -1, &b, &faults, err) < 0 ||
		faults_error(&faults, "the new pack", err) < 0)
		return -1;
	hashed = replaced(named, "sha256:" NO_HASH, b.content);
	return write_file(dir, "manifest.toml", hashed, err);
}

int pack_scaffold(const char *dir, const char *lang, struct error *err)
{
	autofree char *tidy = path_tidy(dir);
	const char *name = path_basename(tidy), *manifest = NULL;
	autoclose int fd = -1;

	if (strlen(name) < 2 || strlen(name) > 64 || name[0] < 'a' || name[0] > 'z' ||
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
		return error_set(err, ERR_USAGE,
			"'%s' cannot be a pack's name: 2 to 64 of a-z, 0-9 and _, a letter first",
			name);
	for (size_t i = 0; i < pack_template_count; i++)
		if (strcmp(pack_templates[i].lang, lang) == 0 &&
			strcmp(pack_templates[i].path, "manifest.toml") == 0)
			manifest = pack_templates[i].text;
	if (!manifest)
		return error_set(
			err, ERR_USAGE, "no language '%s': there are sh, c, python and node", lang);
	if (open_new(dir, &fd, err) < 0)
		return -1;
	for (size_t i = 0; i < pack_template_count; i++) {
		autofree char *text = NULL;

		if (strcmp(pack_templates[i].lang, lang) != 0 || pack_templates[i].text == manifest)
			continue;
		text = replaced(pack_templates[i].text, "example", name);
		if (write_file(fd, pack_templates[i].path, text, err) < 0)
			return -1;
	}
	if (strcmp(lang, "c") == 0 && compile(dir, err) < 0)
		return -1;
	return write_manifest(fd, manifest, name, err);
}
