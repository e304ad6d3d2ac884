/* SPDX-License-Identifier: Apache-2.0 */
/* The launch contract: defaults, limits and its bytes. See contract.h and docs/format/control. */
#include "wire/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/frame.h"

#define GIB (1024ull * 1024 * 1024)
#define MIB (1024ull * 1024)

void contract_init(struct contract *c)
{
	static const struct contract_rlimit rlimits[CONTRACT_RLIMITS] = {
		[0] = {UINT64_MAX, UINT64_MAX},	 /* CPU */
		[1] = {UINT64_MAX, UINT64_MAX},	 /* FSIZE */
		[2] = {2 * GIB, 2 * GIB},	 /* DATA: follows memory_bytes */
		[3] = {8 * MIB, 8 * MIB},	 /* STACK */
		[4] = {0, 0},			 /* CORE */
		[5] = {UINT64_MAX, UINT64_MAX},	 /* RSS */
		[6] = {512, 512},		 /* NPROC */
		[7] = {1024, 4096},		 /* NOFILE */
		[8] = {8 * MIB, 8 * MIB},	 /* MEMLOCK */
		[9] = {UINT64_MAX, UINT64_MAX},	 /* AS */
		[10] = {UINT64_MAX, UINT64_MAX}, /* LOCKS */
		[11] = {1024, 1024},		 /* SIGPENDING */
		[12] = {819200, 819200},	 /* MSGQUEUE */
		[13] = {0, 0},			 /* NICE */
		[14] = {0, 0},			 /* RTPRIO */
		[15] = {UINT64_MAX, UINT64_MAX}, /* RTTIME */
	};

	*c = (struct contract){
		.deterministic = true,
		.columns = 80,
		.rows = 24,
		.epoch_ns = 1700000000ull * 1000000000,
		.monotonic_ns = 1000ull * 1000000000,
		.memory_bytes = 2 * GIB,
		.pids = 512,
		.tmp_bytes = 256 * MIB,
		.tmp_inodes = 65536,
		.copy_bytes = 512 * MIB,
		.copy_inodes = 262144,
		.uid = 1000,
		.gid = 1000,
		.umask_bits = 022,
		.first_pid = 64,
		.hostname = "sandglass",
		.network = mem_strdup("none"),
	};
	memcpy(c->rlimits, rlimits, sizeof(rlimits));
}

static void strings_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void contract_finish(struct contract *c)
{
	strings_free(c->argv);
	strings_free(c->env);
	for (size_t i = 0; i < c->bind_count; i++) {
		free(c->binds[i].source);
		free(c->binds[i].dest);
	}
	free(c->binds);
	free(c->switches);
	free(c->workflow_id);
	free(c->rootfs);
	free(c->workdir);
	free(c->copy_dir);
	free(c->network);
	*c = (struct contract){0};
}

void conditions_finish(struct conditions *k)
{
	free(k->filter);
	*k = (struct conditions){0};
}

static int strings_check(char **list, const char *what, size_t *text, struct error *err)
{
	size_t count = 0;

	for (char **p = list; p && *p; p++, count++) {
		size_t len = strlen(*p);

		if (len >= CONTRACT_STRING_MAX)
			return error_set(err, ERR_LIMIT, "%s %zu has %zu bytes; the limit is %d",
				what, count, len, CONTRACT_STRING_MAX - 1);
		*text += len + 1;
	}
	if (count > CONTRACT_ARGS_MAX)
		return error_set(
			err, ERR_LIMIT, "%zu %ss; the limit is %d", count, what, CONTRACT_ARGS_MAX);
	return 0;
}

static int path_check(const char *path, const char *what, struct error *err)
{
	if (!path)
		return 0;
	if (path[0] != '/')
		return error_set(err, ERR_USAGE, "%s '%s' is not an absolute path", what, path);
	if (strlen(path) > CONTRACT_PATH_MAX)
		return error_set(err, ERR_LIMIT, "%s has %zu bytes; the limit is %d", what,
			strlen(path), CONTRACT_PATH_MAX);
	return 0;
}

bool contract_has_outside(const struct contract *c)
{
	return c->deterministic && strcmp(c->network, "none") != 0;
}

char *contract_copy_source(const struct contract *c)
{
	if (!c->copy_dir)
		return NULL;
	return c->rootfs ? str_format("%s%s", c->rootfs, c->copy_dir) : mem_strdup(c->copy_dir);
}

int contract_check(const struct contract *c, struct error *err)
{
	size_t text = 0;

	if (!c->argv || !c->argv[0])
		return error_set(err, ERR_USAGE, "no command to run");
	if (!c->workdir || !c->workflow_id || !c->env || !c->network)
		return error_set(
			err, ERR_USAGE, "contract without workdir, workflow id or environment");
	if (strings_check(c->argv, "argument", &text, err) < 0 ||
		strings_check(c->env, "environment variable", &text, err) < 0)
		return -1;
	if (text > CONTRACT_TEXT_MAX)
		return error_set(err, ERR_LIMIT,
			"arguments and environment have %zu bytes; the limit is %d", text,
			CONTRACT_TEXT_MAX);
	if (strlen(c->workflow_id) > CONTRACT_PATH_MAX)
		return error_set(
			err, ERR_LIMIT, "workflow id longer than %d bytes", CONTRACT_PATH_MAX);
	if (path_check(c->workdir, "workdir", err) < 0 ||
		path_check(c->rootfs, "rootfs", err) < 0 ||
		path_check(c->copy_dir, "directory to copy", err) < 0)
		return -1;
	if (c->bind_count > CONTRACT_BINDS_MAX)
		return error_set(err, ERR_LIMIT, "%zu binds; the limit is %d", c->bind_count,
			CONTRACT_BINDS_MAX);
	for (size_t i = 0; i < c->bind_count; i++)
		if (path_check(c->binds[i].source, "bind source", err) < 0 ||
			path_check(c->binds[i].dest, "bind destination", err) < 0)
			return -1;
	if (c->switch_count > CONTRACT_SWITCHES_MAX)
		return error_set(err, ERR_LIMIT, "%zu switches; the limit is %d", c->switch_count,
			CONTRACT_SWITCHES_MAX);
	if (c->first_pid < 2 || c->first_pid > 4096)
		return error_set(
			err, ERR_LIMIT, "first pid %u is not between 2 and 4096", c->first_pid);
	return 0;
}

static void put_strings(struct bytes *out, char **list)
{
	uint32_t count = 0;

	while (list && list[count])
		count++;
	bytes_put_u32(out, count);
	for (uint32_t i = 0; i < count; i++)
		bytes_put_string(out, list[i]);
}

static void put_optional(struct bytes *out, const char *s)
{
	bytes_put_u8(out, s != NULL);
	if (s)
		bytes_put_string(out, s);
}

void contract_encode(struct bytes *out, const struct contract *c, const struct conditions *k)
{
	bytes_put_u32(out, FRAME_VERSION);
	bytes_put_u8(out, c->deterministic);
	bytes_put_u8(out, c->tty);
	bytes_put_u16(out, c->columns);
	bytes_put_u16(out, c->rows);
	bytes_put_u8(out, (uint8_t)c->stdin_kind);
	bytes_put_string(out, c->stdin_digest);
	bytes_put_string(out, c->workflow_id);
	bytes_put(out, c->entropy_key, sizeof(c->entropy_key));
	bytes_put_u64(out, c->epoch_ns);
	bytes_put_u64(out, c->monotonic_ns);
	bytes_put_u64(out, c->clock_step_ns);
	bytes_put_u64(out, c->memory_bytes);
	bytes_put_u32(out, c->pids);
	bytes_put_u64(out, c->tmp_bytes);
	bytes_put_u64(out, c->tmp_inodes);
	bytes_put_u64(out, c->copy_bytes);
	bytes_put_u64(out, c->copy_inodes);
	bytes_put_u32(out, c->uid);
	bytes_put_u32(out, c->gid);
	bytes_put_u32(out, c->umask_bits);
	bytes_put_u32(out, c->first_pid);
	bytes_put_string(out, c->hostname);
	bytes_put_string(out, c->cpu);
	for (int i = 0; i < CONTRACT_RLIMITS; i++) {
		bytes_put_u64(out, c->rlimits[i].soft);
		bytes_put_u64(out, c->rlimits[i].hard);
	}
	put_optional(out, c->rootfs);
	bytes_put_string(out, c->workdir);
	put_optional(out, c->copy_dir);
	put_strings(out, c->argv);
	put_strings(out, c->env);
	bytes_put_u32(out, (uint32_t)c->bind_count);
	for (size_t i = 0; i < c->bind_count; i++) {
		bytes_put_string(out, c->binds[i].source);
		bytes_put_string(out, c->binds[i].dest);
		bytes_put_u8(out, c->binds[i].writable);
		bytes_put_string(out, c->binds[i].digest);
	}
	bytes_put_u64(out, c->sched_seed);
	bytes_put_u32(out, (uint32_t)c->switch_count);
	for (size_t i = 0; i < c->switch_count; i++) {
		bytes_put_u32(out, c->switches[i].task);
		bytes_put_u64(out, c->switches[i].point);
		bytes_put_u32(out, c->switches[i].steps);
		bytes_put_u32(out, c->switches[i].next);
	}
	bytes_put_string(out, c->network);
	bytes_put_u32(out, (uint32_t)k->cpu);
	bytes_put_u32(out, k->delay_seed);
	bytes_put_u64(out, k->timers_after_ns);
	bytes_put_u8(out, k->memory_watch);
	bytes_put_u8(out, k->trace);
	bytes_put_u8(out, k->mapped);
	bytes_put_u8(out, k->asks);
	bytes_put_u32(out, (uint32_t)k->filter_len);
	for (size_t i = 0; i < k->filter_len; i++) {
		bytes_put_u16(out, k->filter[i].code);
		bytes_put_u8(out, k->filter[i].jt);
		bytes_put_u8(out, k->filter[i].jf);
		bytes_put_u32(out, k->filter[i].k);
	}
}

static char **get_strings(struct bytes_reader *r)
{
	uint32_t count = bytes_get_u32(r);
	char **list;

	if (count > CONTRACT_ARGS_MAX) {
		r->bad = true;
		count = 0;
	}
	list = mem_array((size_t)count + 1, sizeof(*list));
	for (uint32_t i = 0; i < count; i++)
		list[i] = bytes_get_string(r, CONTRACT_STRING_MAX);
	return list;
}

static char *get_optional(struct bytes_reader *r)
{
	return bytes_get_u8(r) ? bytes_get_string(r, CONTRACT_PATH_MAX) : NULL;
}

static void get_fixed(struct bytes_reader *r, char *out, size_t size)
{
	size_t len;
	const unsigned char *p = bytes_get_block(r, size - 1, &len);

	memset(out, 0, size);
	if (p)
		memcpy(out, p, len);
}

static void get_contract(struct bytes_reader *r, struct contract *c)
{
	uint32_t stdin_kind;

	c->deterministic = bytes_get_u8(r) != 0;
	c->tty = bytes_get_u8(r) != 0;
	c->columns = bytes_get_u16(r);
	c->rows = bytes_get_u16(r);
	stdin_kind = bytes_get_u8(r);
	if (stdin_kind > CONTRACT_STDIN_STREAM)
		r->bad = true;
	c->stdin_kind = (enum contract_stdin)stdin_kind;
	get_fixed(r, c->stdin_digest, sizeof(c->stdin_digest));
	c->workflow_id = bytes_get_string(r, CONTRACT_PATH_MAX);
	bytes_get(r, c->entropy_key, sizeof(c->entropy_key));
	c->epoch_ns = bytes_get_u64(r);
	c->monotonic_ns = bytes_get_u64(r);
	c->clock_step_ns = bytes_get_u64(r);
	c->memory_bytes = bytes_get_u64(r);
	c->pids = bytes_get_u32(r);
	c->tmp_bytes = bytes_get_u64(r);
	c->tmp_inodes = bytes_get_u64(r);
	c->copy_bytes = bytes_get_u64(r);
	c->copy_inodes = bytes_get_u64(r);
	c->uid = bytes_get_u32(r);
	c->gid = bytes_get_u32(r);
	c->umask_bits = bytes_get_u32(r);
	c->first_pid = bytes_get_u32(r);
	get_fixed(r, c->hostname, sizeof(c->hostname));
	get_fixed(r, c->cpu, sizeof(c->cpu));
	for (int i = 0; i < CONTRACT_RLIMITS; i++) {
		c->rlimits[i].soft = bytes_get_u64(r);
		c->rlimits[i].hard = bytes_get_u64(r);
	}
	c->rootfs = get_optional(r);
	c->workdir = bytes_get_string(r, CONTRACT_PATH_MAX);
	c->copy_dir = get_optional(r);
	c->argv = get_strings(r);
	c->env = get_strings(r);
	c->bind_count = bytes_get_u32(r);
	if (c->bind_count > CONTRACT_BINDS_MAX) {
		r->bad = true;
		c->bind_count = 0;
	}
	c->binds = mem_array(c->bind_count, sizeof(*c->binds));
	for (size_t i = 0; i < c->bind_count; i++) {
		c->binds[i].source = bytes_get_string(r, CONTRACT_PATH_MAX);
		c->binds[i].dest = bytes_get_string(r, CONTRACT_PATH_MAX);
		c->binds[i].writable = bytes_get_u8(r) != 0;
		get_fixed(r, c->binds[i].digest, sizeof(c->binds[i].digest));
	}
}

static void get_switches(struct bytes_reader *r, struct contract *c)
{
	c->sched_seed = bytes_get_u64(r);
	c->switch_count = bytes_get_u32(r);
	if (c->switch_count > CONTRACT_SWITCHES_MAX) {
		r->bad = true;
		c->switch_count = 0;
	}
	c->switches = mem_array(c->switch_count, sizeof(*c->switches));
	for (size_t i = 0; i < c->switch_count; i++) {
		c->switches[i].task = bytes_get_u32(r);
		c->switches[i].point = bytes_get_u64(r);
		c->switches[i].steps = bytes_get_u32(r);
		c->switches[i].next = bytes_get_u32(r);
	}
}

static void get_conditions(struct bytes_reader *r, struct conditions *k)
{
	k->cpu = (int)bytes_get_u32(r);
	k->delay_seed = bytes_get_u32(r);
	k->timers_after_ns = bytes_get_u64(r);
	k->memory_watch = bytes_get_u8(r) != 0;
	k->trace = bytes_get_u8(r) != 0;
	k->mapped = bytes_get_u8(r) != 0;
	k->asks = bytes_get_u8(r) != 0;
	k->filter_len = bytes_get_u32(r);
	if (k->filter_len > CONTRACT_FILTER_MAX) {
		r->bad = true;
		k->filter_len = 0;
	}
	k->filter = mem_array(k->filter_len, sizeof(*k->filter));
	for (size_t i = 0; i < k->filter_len; i++) {
		k->filter[i].code = bytes_get_u16(r);
		k->filter[i].jt = bytes_get_u8(r);
		k->filter[i].jf = bytes_get_u8(r);
		k->filter[i].k = bytes_get_u32(r);
	}
}

int contract_decode(const void *data, size_t len, struct contract *ret_contract,
	struct conditions *ret_conditions, struct error *err)
{
	struct bytes_reader r = bytes_reader(data, len);
	auto_contract struct contract c = {0};
	auto_conditions struct conditions k = {0};
	uint32_t version = bytes_get_u32(&r);

	if (version != FRAME_VERSION)
		return error_set(err, ERR_FORMAT,
			"launch frame of version %u, this program speaks %d", version,
			FRAME_VERSION);
	get_contract(&r, &c);
	get_switches(&r, &c);
	c.network = bytes_get_string(&r, CONTRACT_STRING_MAX);
	get_conditions(&r, &k);
	if (r.bad || r.pos != r.end)
		return error_set(err, ERR_FORMAT, "malformed launch frame");
	if (contract_check(&c, err) < 0)
		return -1;
	*ret_contract = c;
	*ret_conditions = k;
	c = (struct contract){0};
	k = (struct conditions){0};
	return 0;
}
