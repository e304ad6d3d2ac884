/* SPDX-License-Identifier: Apache-2.0 */
/* The contract as canonical JSON: see json.h. The page docs/format/contract names every field. */
#include "run/json.h"

#include <stdio.h>
#include <string.h>

#include "run/switches.h"

static const char *const rlimit_names[CONTRACT_RLIMITS] = {"cpu", "fsize", "data", "stack", "core",
	"rss", "nproc", "nofile", "memlock", "as", "locks", "sigpending", "msgqueue", "nice",
	"rtprio", "rttime"};

static const char *const stdin_names[] = {[CONTRACT_STDIN_EMPTY] = "empty",
	[CONTRACT_STDIN_FILE] = "file",
	[CONTRACT_STDIN_STREAM] = "stream"};

static json_t *optional(const char *s)
{
	return s && s[0] ? json_str(s) : json_null();
}

static json_t *strings(char **list)
{
	json_t *array = json_array();

	for (char **p = list; p && *p; p++)
		json_add(array, json_str(*p));
	return array;
}

static json_t *rlimits(const struct contract *c)
{
	json_t *object = json_object();

	for (int i = 0; i < CONTRACT_RLIMITS; i++) {
		json_t *pair = json_array();

		json_add(pair, json_u64(c->rlimits[i].soft));
		json_add(pair, json_u64(c->rlimits[i].hard));
		json_put(object, rlimit_names[i], pair);
	}
	return object;
}

/* A source that was digested is named by its digest, so that the same content elsewhere is the same
 * contract. */
static json_t *binds(const struct contract *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->bind_count; i++) {
		const struct contract_bind *b = &c->binds[i];
		json_t *bind = json_object();

		json_put(bind, "dest", json_str(b->dest));
		json_put(bind, "digest", optional(b->digest));
		json_put(bind, "source", b->digest[0] ? json_null() : json_str(b->source));
		json_put(bind, "writable", json_boolean(b->writable));
		json_add(array, bind);
	}
	return array;
}

static json_t *rootfs(const struct contract *c, const struct inputs *in)
{
	json_t *object = json_object();

	bool is_named = in->image[0] || in->rootfs[0];

	json_put(object, "kind",
		json_str(in->image[0] ? "image"
			 : c->rootfs  ? "directory"
				      : "host"));
	json_put(object, "digest", optional(in->image[0] ? in->image : in->rootfs));
	json_put(object, "path", c->rootfs && !is_named ? json_str(c->rootfs) : json_null());
	return object;
}

static json_t *limits(const struct contract *c)
{
	json_t *object = json_object();

	json_put(object, "memory_bytes", json_u64(c->memory_bytes));
	json_put(object, "pids", json_u64(c->pids));
	json_put(object, "tmp_bytes", json_u64(c->tmp_bytes));
	json_put(object, "tmp_inodes", json_u64(c->tmp_inodes));
	json_put(object, "copy_bytes", json_u64(c->copy_bytes));
	json_put(object, "copy_inodes", json_u64(c->copy_inodes));
	return object;
}

static json_t *clock_json(const struct contract *c)
{
	json_t *object = json_object();

	json_put(object, "epoch_ns", json_u64(c->epoch_ns));
	json_put(object, "monotonic_ns", json_u64(c->monotonic_ns));
	json_put(object, "step_ns", json_u64(c->clock_step_ns));
	return object;
}

/* What chooses the order of tasks instead of the rule alone. */
static json_t *sched_json(const struct contract *c)
{
	json_t *object, *list;

	if (!c->sched_seed && !c->switch_count)
		return json_null();
	object = json_object();
	list = json_array();
	for (size_t i = 0; i < c->switch_count; i++) {
		char text[SWITCH_TEXT];

		switch_format(&c->switches[i], text);
		json_add(list, json_str(text));
	}
	json_put(object, "seed", c->sched_seed ? json_u64(c->sched_seed) : json_null());
	json_put(object, "switches", list);
	return object;
}

static json_t *tty_json(const struct contract *c)
{
	json_t *object;

	if (!c->tty)
		return json_null();
	object = json_object();
	json_put(object, "columns", json_u64(c->columns));
	json_put(object, "rows", json_u64(c->rows));
	return object;
}

static json_t *cwd_json(const struct contract *c, const struct inputs *in)
{
	json_t *object;

	if (!c->copy_dir)
		return json_null();
	object = json_object();
	json_put(object, "path", json_str(c->copy_dir));
	json_put(object, "digest", optional(in->cwd));
	return object;
}

static json_t *stdin_json(const struct contract *c)
{
	json_t *object = json_object();

	json_put(object, "kind", json_str(stdin_names[c->stdin_kind]));
	json_put(object, "digest", optional(c->stdin_digest));
	return object;
}

json_t *contract_json(const struct contract *c, const struct inputs *in)
{
	json_t *o = json_object();
	char umask_text[8];

	snprintf(umask_text, sizeof(umask_text), "%04o", c->umask_bits & 0777);
	json_put(o, "format", json_str("sandglass.contract/2"));
#if defined(__x86_64__)
	json_put(o, "arch", json_str("x86_64"));
#elif defined(__aarch64__)
	json_put(o, "arch", json_str("aarch64"));
#endif
	json_put(o, "argv", strings(c->argv));
	json_put(o, "binds", binds(c));
	json_put(o, "clock", clock_json(c));
	json_put(o, "cpu", optional(c->cpu));
	json_put(o, "cwd", cwd_json(c, in));
	json_put(o, "deterministic", json_boolean(c->deterministic));
	json_put(o, "env", strings(c->env));
	json_put(o, "first_pid", json_u64(c->first_pid));
	json_put(o, "gid", json_u64(c->gid));
	json_put(o, "hostname", json_str(c->hostname));
	json_put(o, "limits", limits(c));
	json_put(o, "network", json_str(c->network));
	json_put(o, "rlimits", rlimits(c));
	json_put(o, "rootfs", rootfs(c, in));
	json_put(o, "sched", sched_json(c));
	json_put(o, "stdin", stdin_json(c));
	json_put(o, "tty", tty_json(c));
	json_put(o, "uid", json_u64(c->uid));
	json_put(o, "umask", json_str(umask_text));
	json_put(o, "workdir", json_str(c->workdir));
	json_put(o, "workflow_id", json_str(c->workflow_id));
	return o;
}

void json_digest(const json_t *value, char ret[DIGEST_TEXT])
{
	auto_bytes struct bytes text = {0};

	json_write(&text, value);
	digest_of(text.data, text.len, ret);
}
