/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that makes a container: see cmdline.h. */
#include "oci/cmdline.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "launch/etc.h"
#include "oci/stage.h"

static void add_all(struct words *out, const char *const *words)
{
	for (; words && *words; words++)
		words_add(out, *words);
}

static void add_program(const struct oci *r, struct words *out)
{
	add_all(out, (const char *const *)r->program.items);
}

static void add_pair(struct words *out, const char *option, const char *value)
{
	words_add(out, option);
	words_add(out, value);
}

/* Always --mount: where its source is missing, -v makes a directory of root's there. */
static void add_bind(struct words *out, const char *source, const char *dest, bool writable)
{
	autofree char *src = str_format("source=%s", source), *dst = str_format("target=%s", dest),
		      *src_field = words_field(src), *dst_field = words_field(dst);

	words_add(out, "--mount");
	/* Read-only holds for the one mount, so nothing that is mounted below comes along. */
	words_format(out, "type=bind,%s,%s%s", src_field, dst_field,
		writable ? "" : ",readonly,bind-nonrecursive=true");
}

static void add_staged(
	struct words *out, const struct cmdline *c, const char *name, const char *dest)
{
	autofree char *source = str_format("%s/%s", c->dir, name);

	add_bind(out, source, dest, false);
}

/* Where the supervisor's file is. */
static int add_supervisor(struct words *out, const struct cmdline *c, struct error *err)
{
	autofree char *link = str_format("/proc/self/fd/%d", c->launch->supervisor),
		      *path = realpath(link, NULL);

	if (!path)
		return error_sys(err, "find the supervisor's file");
	add_bind(out, path, STAGE_POINT "/" STAGE_SUPERVISOR, false);
	return 0;
}

static void add_tmpfs(struct words *out, const char *at, const struct cmdline *c)
{
	const struct contract *k = c->launch->contract;
	bool knows = c->runtime->runtime->dialect->knows_tmpfs;
	autofree char *more = knows ? str_format(",uid=%u,gid=%u,nr_inodes=%" PRIu64, k->uid,
					      k->gid, k->tmp_inodes)
				    : mem_strdup("");

	words_add(out, "--tmpfs");
	words_format(out, "%s:rw,nosuid,nodev,exec,mode=1777,size=%" PRIu64 "%s", at, k->tmp_bytes,
		more);
}

/* What podman keeps of its own limit is less than the host allows. */
enum { LIMIT_MOST = 16384 };

static void add_limits(struct words *out, const struct cmdline *c)
{
	static const struct {
		const char *name;
		int number;
	} limits[] = {{"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC}};
	const struct contract *k = c->launch->contract;

	words_add(out, "--memory");
	words_format(out, "%" PRIu64 "b", k->memory_bytes);
	/* No swap. */
	words_add(out, "--memory-swap");
	words_format(out, "%" PRIu64 "b", k->memory_bytes);
	words_add(out, "--pids-limit");
	words_format(out, "%u", k->pids);
	add_pair(out, "--cpus", "1");
	for (size_t i = 0; c->runtime->runtime->dialect->wants_limits && i < ARRAY_LEN(limits);
		i++) {
		struct rlimit now;

		if (getrlimit(limits[i].number, &now) < 0)
			continue;
		if (now.rlim_max > LIMIT_MOST)
			now.rlim_max = LIMIT_MOST;
		words_add(out, "--ulimit");
		words_format(out, "%s=%ju:%ju", limits[i].name, (uintmax_t)now.rlim_max,
			(uintmax_t)now.rlim_max);
	}
}

/* What the native container sets by itself, so that TCP does not depend on the host's speed. */
static void add_sysctls(struct words *out)
{
	static const char *const settings[] = {
#define X(path, value) path "=" value,
#include "launch/tcp.def"
#undef X
	};
	bool has_ipv6 = access("/proc/sys/net/ipv6", F_OK) == 0;

	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		autofree char *word = mem_strdup(settings[i]);

		if (!has_ipv6 && str_has_prefix(word, "net/ipv6/"))
			continue;
		for (char *p = word; *p != '='; p++)
			if (*p == '/')
				*p = '.';
		add_pair(out, "--sysctl", word);
	}
}

static void add_mounts(struct words *out, const struct cmdline *c)
{
	const struct contract *k = c->launch->contract;

	add_tmpfs(out, "/tmp", c);
	add_tmpfs(out, "/dev/shm", c);
	add_staged(out, c, STAGE_INSIDE, STAGE_POINT);
	add_staged(out, c, STAGE_SYS, "/sys");
	/* Else the runtime's own is mounted there. */
	add_staged(out, c, STAGE_SYS "/fs/cgroup", "/sys/fs/cgroup");
	/* Else the supervisor answers. */
	if (!k->deterministic)
		add_staged(out, c, STAGE_CPUINFO, "/proc/cpuinfo");
	for (size_t i = 0; i < etc_file_count; i++) {
		autofree char *name = str_format(STAGE_ETC "/%s", etc_files[i].name),
			      *dest = str_format("/etc/%s", etc_files[i].name);

		/* The image's own machine-id is the same everywhere. */
		if (etc_files[i].replaces && strcmp(etc_files[i].name, "machine-id") != 0)
			add_staged(out, c, name, dest);
	}
	for (size_t i = 0; i < k->bind_count; i++)
		add_bind(out, k->binds[i].source, k->binds[i].dest, k->binds[i].writable);
}

int cmdline_run(const struct cmdline *c, struct words *out, struct error *err)
{
	const struct contract *k = c->launch->contract;

	add_program(c->runtime->runtime, out);
	add_all(out, (const char *const[]){"run", "--rm", "--pull", "never", NULL});
	add_all(out, c->runtime->runtime->dialect->run);
	add_pair(out, "--name", c->name);
	words_add(out, "--cidfile");
	words_format(out, "%s/" STAGE_CID, c->dir);
	add_all(out, (const char *const[]){"--network", "none", "--read-only", "--cap-drop", "ALL",
			     "--security-opt", "no-new-privileges", "--security-opt", NULL});
	words_format(out, "seccomp=%s/" STAGE_PROFILE, c->dir);
	add_pair(out, "--hostname", k->hostname);
	words_add(out, "--user");
	words_format(out, "%u:%u", k->uid, k->gid);
	add_pair(out, "--workdir", "/");
	add_limits(out, c);
	if (k->deterministic)
		add_sysctls(out);
	add_mounts(out, c);
	if (add_supervisor(out, c, err) < 0)
		return -1;
	add_pair(out, "--entrypoint", STAGE_POINT "/" STAGE_SUPERVISOR);
	words_add(out, c->runtime->image);
	add_pair(out, "--connect", STAGE_POINT "/" STAGE_SOCKET);
	return 0;
}

void cmdline_remove(const struct oci *r, const char *name, struct words *out)
{
	add_program(r, out);
	add_all(out, (const char *const[]){"rm", "-f", "-v", name, NULL});
}

void cmdline_ask(const struct oci *r, const char *const *words, const char *last, struct words *out)
{
	add_program(r, out);
	add_all(out, words);
	if (last)
		words_add(out, last);
}
