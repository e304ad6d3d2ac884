/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in drivers and the names of what they offer: see sandbox.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"
#include "sandbox/drivers.h"
#include "sandbox/sandbox.h"

static const struct sandbox_driver *const drivers[] = {&driver_native, &driver_worktree};

static const char *const capability_names[] = {
#define X(symbol, bit, name) [bit] = name,
	SANDBOX_CAPABILITIES(X)
#undef X
};
_Static_assert(ARRAY_LEN(capability_names) == SANDBOX_CAPABILITY_COUNT, "a name for each bit");

const char *sandbox_capability_name(unsigned bit)
{
	return bit < ARRAY_LEN(capability_names) ? capability_names[bit] : NULL;
}

unsigned sandbox_capability_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(capability_names); i++)
		if (strcmp(capability_names[i], name) == 0)
			return 1U << i;
	return 0;
}

const char *sandbox_tier_name(enum sandbox_tier tier)
{
	static const char *const names[] = {"none", "process", "container", "vm"};

	return names[tier];
}

const char *sandbox_end_name(enum sandbox_end end)
{
	static const char *const names[] = {"exited", "signalled", "timed_out", "not_found",
		"not_executable", "deadlocked", "stopped"};

	return names[end];
}

int sandbox_result_status(const struct sandbox_result *r)
{
	enum {
		NOT_ENFORCED = 121,
		DEADLOCK = 123,
		TIMEOUT = 124,
		NOEXEC = 126,
		NOTFOUND = 127,
		SIGNAL = 128,
		KILLED = 9
	};

	switch (r->end) {
	case SANDBOX_TIMED_OUT:
		return TIMEOUT;
	case SANDBOX_NOT_FOUND:
		return NOTFOUND;
	case SANDBOX_NOT_EXECUTABLE:
		return NOEXEC;
	case SANDBOX_DEADLOCKED:
		return DEADLOCK;
	case SANDBOX_STOPPED:
		return SIGNAL + KILLED;
	case SANDBOX_SIGNALLED:
	case SANDBOX_EXITED:
		break;
	}
	if (r->was_deterministic && !r->enforced)
		return NOT_ENFORCED;
	return r->end == SANDBOX_SIGNALLED ? SIGNAL + r->signal : r->code;
}

void sandbox_names_finish(struct sandbox_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct sandbox_names){0};
}

const struct sandbox_driver *const *sandbox_drivers(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(drivers);
	return drivers;
}

int sandbox_driver_find(const char *name, const struct sandbox_driver **ret, struct error *err)
{
	autofree char *known = mem_strdup(""), *safe = str_printable(name, strlen(name), 60);

	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		char *longer = str_format("%s%s%s", known, i ? ", " : "", drivers[i]->name);

		free(known);
		known = longer;
		if (strcmp(drivers[i]->name, name) == 0) {
			*ret = drivers[i];
			return 0;
		}
	}
	return error_set(err, ERR_MISSING, "no backend '%s'; there are: %s", safe, known);
}

static const struct sandbox_option *find_option(const struct sandbox_driver *d, const char *name)
{
	for (const struct sandbox_option *o = d->options; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

static bool is_of(const json_t *value, enum sandbox_option_type type)
{
	switch (type) {
	case SANDBOX_OPTION_TEXT:
		return json_is_string(value);
	case SANDBOX_OPTION_NUMBER:
		return json_is_integer(value);
	case SANDBOX_OPTION_FLAG:
		return json_is_boolean(value);
	}
	return false;
}

static int check_options(
	const struct sandbox_driver *d, const struct manifest *m, struct error *err)
{
	static const char *const types[] = {"a string", "a whole number", "true or false"};
	auto_json json_t *all = NULL;
	const char *name;
	json_t *value;

	if (!m->options)
		return 0;
	if (json_read(m->options, strlen(m->options), MANIFEST_TEXT_MAX, &all, err) < 0)
		return error_wrap(err, "manifest: options");
	json_object_foreach(all, name, value)
	{
		const struct sandbox_option *o = find_option(d, name);
		autofree char *safe = str_printable(name, strlen(name), 60);

		if (!o)
			return error_set(err, ERR_FORMAT,
				"manifest: options: unknown key '%s': the backend '%s' %s", safe,
				d->name, d->options ? "has no such option" : "has no options");
		if (!is_of(value, o->type))
			return error_set(err, ERR_FORMAT, "manifest: options: %s: not %s", safe,
				types[o->type]);
	}
	return 0;
}

int sandbox_check(const struct sandbox_driver *d, const struct manifest *m, struct error *err)
{
	unsigned missing = m->requires & ~d->capabilities;

	for (unsigned i = 0; i < SANDBOX_CAPABILITY_COUNT; i++)
		if (missing & 1U << i)
			return error_set(err, ERR_UNSUPPORTED,
				"the manifest requires '%s', which the backend '%s' does not have",
				capability_names[i], d->name);
	return check_options(d, m, err);
}

static char **copy_list(char *const *list)
{
	size_t count = 0;
	char **copy;

	while (list && list[count])
		count++;
	copy = list ? mem_array(count + 1, sizeof(*copy)) : NULL;
	for (size_t i = 0; i < count; i++)
		copy[i] = mem_strdup(list[i]);
	return copy;
}

static char *copy_text(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static void copy_manifest(struct manifest *to, const struct manifest *from)
{
	*to = *from;
	to->root = mem_strdup(from->root);
	to->env = copy_list(from->env);
	to->repo.src_path = copy_text(from->repo.src_path);
	to->repo.branch = copy_text(from->repo.branch);
	to->repo.sparse_paths = copy_list(from->repo.sparse_paths);
	to->options = copy_text(from->options);
	to->files = mem_array(from->file_count, sizeof(*to->files));
	for (size_t i = 0; i < from->file_count; i++) {
		const struct manifest_file *f = &from->files[i];

		to->files[i] = *f;
		to->files[i].path = mem_strdup(f->path);
		to->files[i].source = copy_text(f->source);
		to->files[i].content = f->content ? mem_dup(f->content, f->content_len + 1) : NULL;
	}
}

int sandbox_open(struct sandbox *ret, const char *driver, const char *home,
	const struct manifest *m, struct error *err)
{
	struct sandbox s = {0};

	if (sandbox_driver_find(driver, &s.driver, err) < 0)
		return -1;
	s.home = mem_strdup(home);
	copy_manifest(&s.manifest, m);
	*ret = s;
	return 0;
}

void sandbox_close(struct sandbox *s)
{
	free(s->home);
	manifest_finish(&s->manifest);
	*s = (struct sandbox){0};
}
