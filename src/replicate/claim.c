/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a manifest: see claim.h. Every object is a table of its members, so that an unknown one,
 * one of another type and one that is missing are told together, all of them.
 */
#include "replicate/claim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "replicate/members.h"

enum {
	STRING_MAX = 64 * 1024,
	ENV_MAX = 1024,
	SECONDS_MAX = 30 * 24 * 3600,
	PIDS_MAX = 4194304,
	MEMORY_MIN = 16 << 20,
};

const char *const tolerance_names[TOLERANCES] = {"absolute", "relative", "interval"};

void violations_finish(struct violations *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->items[i]);
	*f = (struct violations){0};
}

void violations_add(struct violations *f, const char *fmt, ...)
{
	char *line = NULL;
	va_list ap;

	if (f->count == CLAIM_VIOLATIONS_MAX) {
		f->more = true;
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		abort();
	va_end(ap);
	f->items[f->count++] = line;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void claim_finish(struct claim *c)
{
	free(c->id);
	free(c->text);
	free(c->repository);
	free(c->working_dir);
	free(c->entrypoint);
	free_list(c->env);
	free_list(c->cpu_flags);
	for (size_t i = 0; i < c->data_count; i++) {
		free(c->data[i].name);
		free(c->data[i].path);
	}
	for (size_t i = 0; i < c->target_count; i++) {
		free(c->targets[i].name);
		free(c->targets[i].unit);
	}
	free(c->data);
	free(c->targets);
	*c = (struct claim){0};
}

/* Of a member that is a path below some directory: tidy and nothing above it. */
static bool is_path_below(const char *path)
{
	autofree char *rooted = str_format("/%s", path), *tidy = path_tidy(rooted);

	return path[0] && strcmp(tidy, rooted) == 0 && strcmp(tidy, "/") != 0;
}

static void take_path(struct members *m, const json_t *v, void *at)
{
	char *text = NULL;

	if (!members_text(m, v, STRING_MAX, &text))
		return;
	if (is_path_below(text))
		*(char **)at = take_ptr(text);
	else
		members_fault(m, "has to be a relative path without '.' and '..', like a/b.csv");
	free(text);
}

static void take_text(struct members *m, const json_t *v, void *at)
{
	members_text(m, v, STRING_MAX, at);
}

static bool is_name(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

/* A text without control characters, so that it can be printed. */
static void take_name(struct members *m, const json_t *v, void *at)
{
	char *text = NULL;

	if (!members_text(m, v, 256, &text))
		return;
	if (is_name(text))
		*(char **)at = take_ptr(text);
	else
		members_fault(m, "has control characters");
	free(text);
}

static void take_format(struct members *m, const json_t *v, void *at)
{
	(void)at;
	if (!json_is_string(v) || strcmp(json_string_value(v), CLAIM_FORMAT) != 0)
		members_fault(m, "has to be \"" CLAIM_FORMAT "\"");
}

static bool is_hex(const char *s, size_t len)
{
	return strlen(s) == len && strspn(s, "0123456789abcdef") == len;
}

static void take_commit(struct members *m, const json_t *v, void *at)
{
	const char *s = json_string_value(v);

	if (s && is_hex(s, CLAIM_COMMIT_SIZE - 1))
		memcpy(at, s, CLAIM_COMMIT_SIZE);
	else
		members_fault(m, "has to be the whole commit id: 40 digits of 0-9 and a-f");
}

static void take_digest(struct members *m, const json_t *v, void *at)
{
	const char *s = json_string_value(v), *digits = s;

	if (s && str_has_prefix(s, "sha256:"))
		digits += strlen("sha256:");
	if (digits && is_hex(digits, 64))
		snprintf(at, DIGEST_TEXT, "sha256:%s", digits);
	else
		members_fault(m, "has to be sha256: and 64 digits of 0-9 and a-f");
}

static void take_bytes(struct members *m, const json_t *v, void *at)
{
	members_number(m, v, 0, INT64_MAX, at);
}

static void take_size(struct members *m, const json_t *v, void *at)
{
	const char *text = json_string_value(v);
	uint64_t size;

	if (!text)
		members_number(m, v, 1, INT64_MAX, at);
	else if (num_parse_size(text, &size, NULL) < 0 || size == 0 || size > INT64_MAX)
		members_fault(m, "has to be bytes, like 536870912 or \"512M\"");
	else
		*(uint64_t *)at = size;
}

static void take_memory(struct members *m, const json_t *v, void *at)
{
	uint64_t size = 0;

	take_size(m, v, &size);
	if (size > 0 && size < MEMORY_MIN)
		members_fault(m, "below 16M holds no program");
	else if (size > 0)
		*(uint64_t *)at = size;
}

static void take_count(struct members *m, const json_t *v, void *at)
{
	members_number(m, v, 1, INT32_MAX, at);
}

static void take_pids(struct members *m, const json_t *v, void *at)
{
	members_number(m, v, 1, PIDS_MAX, at);
}

static void take_timeout(struct members *m, const json_t *v, void *at)
{
	uint64_t seconds = 0;

	if (members_number(m, v, 1, SECONDS_MAX, &seconds))
		*(uint64_t *)at = seconds * NUM_SECOND_NS;
}

static void take_cpus(struct members *m, const json_t *v, void *at)
{
	double n = json_number_value(v);

	if (!json_is_number(v) || !(n >= 0.01) || n > 4096)
		members_fault(m, "has to be a number of CPUs from 0.01 to 4096");
	else
		*(uint64_t *)at = (uint64_t)(n * 1000 + 0.5);
}

static void take_claim(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;
	const struct member rows[] = {
		{"id", true, take_name, &c->id}, {"text", false, take_text, &c->text}, {0}};

	members_read(m, v, rows);
}

static void take_code(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;
	const struct member rows[] = {{"repository", false, take_text, &c->repository},
		{"commit", true, take_commit, c->commit},
		{"working_dir", false, take_path, &c->working_dir}, {0}};

	members_read(m, v, rows);
}

static void take_one_data(struct members *m, const json_t *v, struct claim_data *d)
{
	const struct member rows[] = {{"name", true, take_name, &d->name},
		{"path", true, take_path, &d->path}, {"sha256", true, take_digest, d->digest},
		{"bytes", true, take_bytes, &d->bytes}, {0}};

	members_read(m, v, rows);
}

static void take_data(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;
	size_t count = json_array_size(v);

	if (!json_is_array(v) || count > CLAIM_DATA_MAX) {
		members_fault(m, "has to be an array of at most 4096 data sets");
		return;
	}
	c->data = mem_array(count, sizeof(*c->data));
	c->data_count = count;
	for (size_t i = 0; i < count; i++) {
		MEMBERS_ITEM(m, i);
		take_one_data(m, json_array_get(v, i), &c->data[i]);
		for (size_t j = 0; j < i && c->data[i].path; j++)
			if (c->data[j].path && strcmp(c->data[j].path, c->data[i].path) == 0)
				members_fault(m, "has the path of an earlier data set");
	}
}

static void take_image(struct members *m, const json_t *v, void *at)
{
	const struct member rows[] = {{"digest", true, take_digest, at}, {0}};

	members_read(m, v, rows);
}

static int compare_entries(const void *a, const void *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x, y);
}

/* What the analysis is told by the contract of its execution, and nobody may say otherwise. */
static bool is_reserved(const char *name)
{
	return str_has_prefix(name, "DOTLAB_") || strcmp(name, "HOME") == 0;
}

static void take_environment(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;
	size_t count = json_object_size(v), n = 0;
	const char *name;
	json_t *item;

	if (!json_is_object(v) || count > ENV_MAX) {
		members_fault(m, "has to be an object of at most 1024 variables");
		return;
	}
	c->env = mem_array(count + 1, sizeof(*c->env));
	json_object_foreach((json_t *)(uintptr_t)v, name, item)
	{
		char *value = NULL;

		MEMBERS_NAMED(m, name);
		if (!name[0] || strchr(name, '=') || !is_name(name))
			members_fault(m, "is no name of a variable");
		else if (is_reserved(name))
			members_fault(m, "is set by the runner (DOTLAB_..., HOME)");
		else if (json_is_string(item) && json_string_length(item) == 0)
			c->env[n++] = str_format("%s=", name);
		else if (members_text(m, item, STRING_MAX, &value))
			c->env[n++] = str_format("%s=%s", name, value);
		free(value);
	}
	qsort(c->env, n, sizeof(*c->env), compare_entries);
}

static void take_seed(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;

	c->has_seed = json_is_integer(v);
	c->seed = json_integer_value(v);
	if (!c->has_seed)
		members_fault(m, "has to be a whole number");
}

static void take_real(struct members *m, const json_t *v, void *at)
{
	if (json_is_number(v))
		*(double *)at = json_number_value(v);
	else
		members_fault(m, "has to be a number");
}

static void take_interval(struct members *m, const json_t *v, struct tolerance *t)
{
	const json_t *low = json_array_get(v, 0), *high = json_array_get(v, 1);

	if (json_array_size(v) != 2 || !json_is_number(low) || !json_is_number(high) ||
		json_number_value(low) > json_number_value(high)) {
		members_fault(m, "has to be [low, high] with low not above high");
		return;
	}
	t->low = json_number_value(low);
	t->high = json_number_value(high);
}

/* An object with one member that names its kind. */
static void take_tolerance(struct members *m, const json_t *v, void *at)
{
	struct tolerance *t = at;
	const char *name;
	json_t *item;

	if (!json_is_object(v) || json_object_size(v) != 1) {
		members_fault(m, "has to have one member: absolute, relative or interval");
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)v, name, item)
	{
		MEMBERS_NAMED(m, name);
		t->kind = TOLERANCE_ABSOLUTE;
		while (t->kind < TOLERANCES && strcmp(name, tolerance_names[t->kind]) != 0)
			t->kind++;
		if (t->kind == TOLERANCES)
			members_fault(m, "is no tolerance: absolute, relative or interval");
		else if (t->kind == TOLERANCE_INTERVAL)
			take_interval(m, item, t);
		else if (!json_is_number(item) || json_number_value(item) < 0)
			members_fault(m, "has to be a number from 0 on");
		else
			t->high = json_number_value(item);
	}
}

static void take_target(struct members *m, const json_t *v, struct claim_target *t)
{
	const struct member rows[] = {{"name", true, take_name, &t->name},
		{"value", true, take_real, &t->value},
		{"tolerance", true, take_tolerance, &t->tolerance},
		{"unit", false, take_name, &t->unit}, {0}};

	members_read(m, v, rows);
}

static void take_targets(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;
	size_t count = json_array_size(v);

	if (!json_is_array(v) || count == 0 || count > CLAIM_TARGETS_MAX) {
		members_fault(m, "has to be an array of 1 to 4096 targets");
		return;
	}
	c->targets = mem_array(count, sizeof(*c->targets));
	c->target_count = count;
	for (size_t i = 0; i < count; i++) {
		MEMBERS_ITEM(m, i);
		take_target(m, json_array_get(v, i), &c->targets[i]);
		for (size_t j = 0; j < i && c->targets[i].name; j++)
			if (c->targets[j].name &&
				strcmp(c->targets[j].name, c->targets[i].name) == 0)
				members_fault(m, "has the name of an earlier target");
	}
}

static void take_limits(struct members *m, const json_t *v, void *at)
{
	struct claim_limits *l = at;
	const struct member rows[] = {{"timeout_seconds", false, take_timeout, &l->timeout_ns},
		{"memory", false, take_memory, &l->memory_bytes},
		{"cpus", false, take_cpus, &l->cpus_milli}, {"pids", false, take_pids, &l->pids},
		{"tmp_bytes", false, take_size, &l->tmp_bytes},
		{"tmp_files", false, take_count, &l->tmp_files},
		{"output_bytes", false, take_size, &l->output_bytes},
		{"output_files", false, take_count, &l->output_files}, {0}};

	members_read(m, v, rows);
}

static void take_gpu(struct members *m, const json_t *v, void *at)
{
	if (json_is_boolean(v))
		*(bool *)at = json_is_true(v);
	else
		members_fault(m, "has to be true or false");
}

static void take_flags(struct members *m, const json_t *v, void *at)
{
	size_t count = json_array_size(v);
	char **flags;

	if (!json_is_array(v) || count > 64) {
		members_fault(m, "has to be an array of at most 64 flags of /proc/cpuinfo");
		return;
	}
	*(char ***)at = flags = mem_array(count + 1, sizeof(*flags));
	for (size_t i = 0; i < count; i++) {
		MEMBERS_ITEM(m, i);
		if (members_text(m, json_array_get(v, i), 64, flags))
			flags++;
	}
}

static void take_hardware(struct members *m, const json_t *v, void *at)
{
	struct claim *c = at;
	const struct member rows[] = {{"gpu", false, take_gpu, &c->needs_gpu},
		{"cpu", false, take_flags, &c->cpu_flags}, {0}};

	members_read(m, v, rows);
}

/* What a manifest that says nothing gets: docs/format/replication. */
static const struct claim_limits default_limits = {
	.timeout_ns = 3600 * NUM_SECOND_NS,
	.memory_bytes = 2ull << 30,
	.pids = 256,
	.cpus_milli = 1000,
	.tmp_bytes = 1ull << 30,
	.tmp_files = 65536,
	.output_bytes = 1ull << 30,
	.output_files = 10000,
};

int claim_parse(
	const char *text, size_t len, struct claim *ret, struct violations *f, struct error *err)
{
	auto_claim struct claim c = {.limits = default_limits};
	auto_json json_t *value = NULL;
	struct members m = {.faults = f};
	const struct member rows[] = {{"format", true, take_format, NULL},
		{"claim", true, take_claim, &c}, {"code", true, take_code, &c},
		{"data", false, take_data, &c}, {"image", true, take_image, c.image},
		{"entrypoint", true, take_text, &c.entrypoint},
		{"environment", false, take_environment, &c}, {"seed", false, take_seed, &c},
		{"targets", true, take_targets, &c}, {"limits", false, take_limits, &c.limits},
		{"hardware", false, take_hardware, &c}, {0}};

	digest_of(text, len, c.digest);
	if (json_read_numbers(text, len, CLAIM_TEXT_MAX, false, &value, err) < 0)
		return -1;
	members_read(&m, value, rows);
	if (f->count > 0)
		return error_set(err, ERR_FORMAT, "%zu%s violations of the format '%s'", f->count,
			f->more ? " or more" : "", CLAIM_FORMAT);
	*ret = c;
	c = (struct claim){0};
	return 0;
}
