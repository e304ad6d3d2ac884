/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name for a race: see race.h. The words are those of S. Lu et al., Learning from Mistakes
 * (2008): what was meant to be whole was cut in two (atomicity violation), or came in another order
 * than was meant (order violation). It is a guess from the last forced switch; the switches
 * themselves are certain.
 */
#include "run/race.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/difference.h"
#include "wire/sysnr.h"

enum { NO_CALL = 65535 };

/* Calls about names: between two of them somebody else can change what a name means. */
static const int name_calls[] = {NR_open, NR_openat, NR_openat2, NR_creat, NR_access, NR_faccessat,
	NR_faccessat2, NR_stat, NR_lstat, NR_newfstatat, NR_statx, NR_readlink, NR_readlinkat,
	NR_mkdir, NR_mkdirat, NR_rmdir, NR_unlink, NR_unlinkat, NR_rename, NR_renameat,
	NR_renameat2, NR_link, NR_linkat, NR_symlink, NR_symlinkat, NR_chmod, NR_fchmodat,
	NR_truncate};

static bool is_about_names(int nr)
{
	for (size_t i = 0; nr >= 0 && i < ARRAY_LEN(name_calls); i++)
		if (name_calls[i] == nr)
			return true;
	return false;
}

/* What the record says of the calls around the switches found so far. */
static void see(struct race_switch *list, size_t count, const struct decision *d)
{
	if (d->kind != DECISION_CALL)
		return;
	for (size_t i = 0; i < count; i++) {
		struct race_switch *s = &list[i];

		if (d->task == s->at.task && s->after < 0)
			s->after = d->nr;
		if (d->task == s->at.next && s->other < 0)
			s->other = d->nr;
	}
}

static struct race_switch from_record(const struct decision *d)
{
	return (struct race_switch){.at = {.task = d->task,
					    .point = d->args[0],
					    .steps = (uint32_t)d->args[1],
					    .next = (uint32_t)d->args[2]},
		.gave_way = d->result == -1,
		.before = d->nr == NO_CALL ? -1 : d->nr,
		.after = -1,
		.other = -1};
}

int race_switches(
	const struct attempt *a, struct race_switch **ret, size_t *ret_count, struct error *err)
{
	enum { CHUNK = DECISION_SIZE * 1024, SWITCHES = 64 };
	autofree unsigned char *buf = mem_alloc(CHUNK);
	autofree struct race_switch *list = mem_array(SWITCHES, sizeof(*list));
	size_t count = 0;

	for (uint64_t at = 0; at < a->decisions.kept;) {
		ssize_t n = pread(a->decisions.keep, buf, CHUNK, (off_t)at);

		if (n < DECISION_SIZE)
			return error_sys(err, "read the decisions of a run");
		n -= n % DECISION_SIZE;
		for (ssize_t i = 0; i < n; i += DECISION_SIZE) {
			struct decision d;

			decision_decode(buf + i, &d);
			see(list, count, &d);
			if (d.kind == DECISION_FORCED && count < SWITCHES)
				list[count++] = from_record(&d);
		}
		at += (uint64_t)n;
	}
	*ret = take_ptr(list);
	*ret_count = count;
	return 0;
}

static const char *call_name(int nr)
{
	const char *name = nr < 0 ? NULL : difference_call_name((unsigned)nr);

	return name ? name : "its end";
}

/* Where the preempted task stands. */
static char *place_text(const struct race_switch *s)
{
	const char *name = s->before < 0 ? "its beginning" : call_name(s->before);
	uint32_t steps = s->at.steps - 1;

	if (s->gave_way)
		return str_format("waits in %s", name);
	if (!s->at.steps)
		return str_format("is stopped before %s", name);
	if (!steps)
		return str_format("is stopped right after %s", name);
	return str_format(
		"is stopped %u instruction%s after %s", steps, steps == 1 ? "" : "s", name);
}

char *race_switch_text(const struct race_switch *s)
{
	autofree char *place = place_text(s);
	autofree char *other =
		s->other < 0 ? NULL : str_format(" (next call: %s)", call_name(s->other));

	if (s->at.next == s->at.task)
		return str_format("task %u %s, and goes on before the others", s->at.task, place);
	return str_format(
		"task %u %s; task %u runs%s", s->at.task, place, s->at.next, other ? other : "");
}

static char *deadlock_name(const struct outcome *o, const char **ret_kind)
{
	static const char mark[] = "cycle: ";
	const char *cycle = strstr(o->deadlock, mark), *first = strstr(o->deadlock, "; ");

	if (cycle) {
		*ret_kind = "deadlock";
		return str_format("deadlock: %s", cycle + sizeof(mark) - 1);
	}
	*ret_kind = "missed wake-up";
	return str_format("missed wake-up: %s", first ? first + 2 : o->deadlock);
}

static bool is_birth(const struct race_switch *s)
{
	return s->before >= 0 &&
	       (s->before == NR_clone || s->before == NR_fork || s->before == NR_vfork);
}

/* The last of its kind in the list; NULL when there is none. */
static const struct race_switch *between_names(const struct race_switch *list, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (!list[i].gave_way && is_about_names(list[i].after) &&
			(is_about_names(list[i].before) || is_about_names(list[i].other)))
			return &list[i];
	return NULL;
}

static const struct race_switch *between_instructions(const struct race_switch *list, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (list[i].at.steps > 1 && !is_birth(&list[i]))
			return &list[i];
	return NULL;
}

char *race_name(const struct outcome *o, const struct race_switch *list, size_t count,
	const char **ret_kind)
{
	const struct race_switch *s;

	if (o->end == ONE_DEADLOCK)
		return deadlock_name(o, ret_kind);
	if (!count) {
		*ret_kind = "race";
		return mem_strdup("race: no forced switch is known");
	}
	s = between_names(list, count);
	if (s) {
		*ret_kind = "check-then-act";
		return str_format("check-then-act: task %u stands between its calls about names "
				  "(%s, then %s) when task %u runs (%s)",
			s->at.task, call_name(s->before), call_name(s->after), s->at.next,
			call_name(s->other));
	}
	s = between_instructions(list, count);
	if (s) {
		*ret_kind = "atomicity violation";
		return str_format(
			"atomicity violation: task %u is in the middle of something that no "
			"lock protects when task %u runs",
			s->at.task, s->at.next);
	}
	s = &list[count - 1];
	*ret_kind = "order violation";
	return str_format("order violation: task %u comes to %s before task %u comes to %s",
		s->at.next, call_name(s->other), s->at.task, call_name(s->after));
}
