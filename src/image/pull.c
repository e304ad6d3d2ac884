/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images from registries, by skopeo(1): see image.h.
 *
 * How it works. The raw manifest comes first. Its digest is what the reference pins, or what the
 * tag has now; an index leads to the manifest for this machine. Then that manifest is copied by its
 * digest as it is (skopeo's "dir" changes nothing), so that a tag that moves meanwhile changes
 * nothing either.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/temp.h"
#include "config/paths.h"
#include "image/inside.h"

enum { SAID_MAX = 1 << 20 };

static NORETURN void be_skopeo(char **argv, int out, int said, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || getppid() != parent || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
		dup2(said, 2) < 0)
		_exit(127);
	execvp(argv[0], argv);
	_exit(127);
}

/* A quoted value without its escapes, up to the quote that ends it. */
static void unquote(char *s)
{
	char *to = s;

	for (; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1])
			s++;
		*to++ = *s;
	}
	*to = '\0';
}

/* What skopeo said last, without its own prefix: one line. */
static void tell(int said, int status, const char *what, struct error *err)
{
	autofree char *text = NULL, *shown = NULL;
	const char *line = "it said nothing";
	char *msg;
	size_t len = 0;

	if (lseek(said, 0, SEEK_SET) == 0 && fd_slurp(said, SAID_MAX, &text, &len, NULL) == 0) {
		while (len > 0 && text[len - 1] == '\n')
			text[--len] = '\0';
		if (len > 0)
			line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
	}
	msg = strstr(line, "msg=\"");
	if (msg) {
		unquote(msg + 5);
		line = msg + 5;
	}
	shown = str_printable(line, strlen(line), 300);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		error_set(err, ERR_MISSING,
			"skopeo is not here; install it (Debian: skopeo), or import an archive");
	else
		error_set(err, ERR_SYSTEM, "%s: skopeo: %s", what, shown);
}

/* Runs it; *ret_out (NULL: not wanted) is its standard output. */
static int skopeo(char **argv, const char *what, char **ret_out, size_t *ret_len, struct error *err)
{
	autoclose int out = -1, said = -1;
	pid_t parent = getpid(), pid;
	int status = 0;

	if (temp_open(&out, err) < 0 || temp_open(&said, err) < 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return error_sys(err, "start skopeo");
	if (pid == 0)
		be_skopeo(argv, out, said, parent);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_sys(err, "wait for skopeo");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		tell(said, status, what, err);
		return error_failed();
	}
	if (!ret_out)
		return 0;
	if (lseek(out, 0, SEEK_SET) < 0)
		return error_sys(err, "seek");
	return fd_slurp(out, IMAGE_JSON_MAX, ret_out, ret_len, err);
}

/* The policy of signatures is the user's where there is one; else the digest alone decides. */
static const char *policy(void)
{
	autofree char *home = paths_home(),
		      *own = home ? str_format("%s/.config/containers/policy.json", home) : NULL;

	return access("/etc/containers/policy.json", R_OK) == 0 || (own && access(own, R_OK) == 0)
		       ? "--command-timeout=60m"
		       : "--insecure-policy";
}

static int inspect(const struct image_ref *ref, const char *url, char **ret, size_t *ret_len,
	struct error *err)
{
	autofree char *p = mem_strdup(policy()), *u = mem_strdup(url);
	char skopeo_name[] = "skopeo", verb[] = "inspect", raw[] = "--raw",
	     tls[] = "--tls-verify=false";
	char *argv[] = {skopeo_name, p, verb, raw, u, NULL, NULL};

	if (image_ref_is_local(ref)) {
		argv[4] = tls;
		argv[5] = u;
	}
	return skopeo(argv, url, ret, ret_len, err);
}

static int copy(const struct image_ref *ref, const char *url, const char *dir, struct error *err)
{
	autofree char *p = mem_strdup(policy()), *u = mem_strdup(url),
		      *to = str_format("dir:%s", dir);
	char skopeo_name[] = "skopeo", verb[] = "copy", quiet[] = "--quiet",
	     same[] = "--preserve-digests", tls[] = "--src-tls-verify=false";
	char *argv[] = {skopeo_name, p, verb, quiet, same, u, to, NULL, NULL};

	if (image_ref_is_local(ref)) {
		argv[5] = tls;
		argv[6] = u;
		argv[7] = to;
	}
	return skopeo(argv, url, NULL, NULL, err);
}

static int copy_and_import(struct images *s, const struct image_ref *ref, const char *manifest,
	struct image_parts *p, struct image *ret, struct error *err)
{
	auto_making struct making m = {.s = s, .fd = -1};
	autofree char *dir = NULL, *url = NULL;
	autoclose int fd = -1;

	if (images_tmp_make(s, m.name, &m.fd, err) < 0)
		return -1;
	dir = str_format("%s/tmp/%s/dir", s->path, m.name);
	url = str_format("docker://%s@%s", ref->name, manifest);
	if (copy(ref, url, dir, err) < 0)
		return -1;
	fd = openat(m.fd, "dir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open what skopeo has copied");
	p->dir = fd;
	p->expected = manifest;
	return image_import_dir(s, p, IMAGE_DOCKER, ret, err);
}

int image_pull(struct images *s, const char *text, const struct image_import *o, struct image *ret,
	struct error *err)
{
	auto_image_ref struct image_ref ref = {0};
	struct image_parts p = {.dir = -1, .where = text, .o = o};
	autofree char *url = NULL, *raw = NULL, *name = NULL;
	char digest[DIGEST_TEXT];
	struct image_blob chosen;
	size_t len;

	if (image_ref_parse(text, &ref, err) < 0)
		return -1;
	if (!ref.name)
		return error_set(err, ERR_USAGE,
			"'%s' has no name to ask a registry for; give NAME@%s", text, ref.digest);
	name = image_ref_name(&ref);
	url = ref.digest[0] ? str_format("docker://%s@%s", ref.name, ref.digest)
			    : str_format("docker://%s", name);
	if (inspect(&ref, url, &raw, &len, err) < 0)
		return -1;
	digest_of(raw, len, digest);
	if (ref.digest[0] && strcmp(digest, ref.digest) != 0)
		return error_set(
			err, ERR_TAMPERED, "the registry gives %s for %s", digest, ref.digest);
	/* A digest without a tag gives no name: what the tag says is not asked. */
	p.name = ref.digest[0] && !ref.tag ? NULL : name;
	if (!image_index_is(raw, len))
		return copy_and_import(s, &ref, digest, &p, ret, err);
	if (image_index_choose(raw, len, &chosen, NULL, err) < 0)
		return error_wrap(err, "%.200s", text);
	if (cas_put(s->cas, raw, len, NULL, digest, err) < 0)
		return -1;
	p.index = digest;
	return copy_and_import(s, &ref, chosen.digest, &p, ret, err);
}
