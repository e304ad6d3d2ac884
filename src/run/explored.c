/* SPDX-License-Identifier: Apache-2.0 */
/* What an exploration found: see explored.h. */
#include "run/explored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/difference.h"
#include "run/race.h"
#include "run/switches.h"

/* Everything about what was found that both forms need. */
struct told {
	char *before, *after; /* how the two runs ended */
	struct difference_row out, err;
	bool ends, tree; /* differs */
	struct race_switch *switches;
	size_t count;
	char *race, *list, *command;
	const char *kind;
};

static void told_finish(struct told *t)
{
	free(t->before);
	free(t->after);
	free(t->out.first);
	free(t->out.second);
	free(t->err.first);
	free(t->err.second);
	free(t->switches);
	free(t->race);
	free(t->list);
	free(t->command);
}

char *explored_quote(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./:=,+@%-";
	auto_bytes struct bytes b = {0};

	if (word[0] && strspn(word, plain) == strlen(word))
		return mem_strdup(word);
	bytes_put(&b, "'", 1);
	for (const char *p = word; *p; p++)
		if (*p == '\'')
			bytes_put(&b, "'\\''", 4);
		else
			bytes_put(&b, p, 1);
	bytes_put(&b, "'", 2);
	return mem_strdup((const char *)b.data);
}

static int status_of(const struct outcome *o)
{
	if (o->end == ONE_DEADLOCK)
		return 123;
	if (o->end == ONE_TIMEOUT)
		return 124;
	if (!o->is_enforced)
		return 121;
	return o->signal ? 128 + o->signal : o->code;
}

static char *end_text(const struct outcome *o)
{
	if (o->end == ONE_DEADLOCK)
		return mem_strdup("a deadlock (status 123)");
	if (o->end == ONE_TIMEOUT)
		return mem_strdup("a time-out (status 124)");
	if (!o->is_enforced)
		return str_format("status 121, not reproducible (%s)", o->not_enforced);
	return o->signal ? str_format("death by signal %d", o->signal)
			 : str_format("exit status %d", o->code);
}

static char *command_text(const struct explored *e, const char *list)
{
	auto_bytes struct bytes b = {0};
	autofree char *how =
		e->is_shrunk ? str_format("--switches %s ", list)
			     : str_format("--sched-seed %llu ", (unsigned long long)e->seed);

	bytes_put(&b, "sandglass run ", 14);
	bytes_put(&b, e->options, strlen(e->options));
	bytes_put(&b, how, strlen(how));
	bytes_put(&b, "--", 2);
	for (char **p = e->argv; *p; p++) {
		autofree char *word = explored_quote(*p);

		bytes_put(&b, " ", 1);
		bytes_put(&b, word, strlen(word));
	}
	/* What standard input is decides what stops, and so where the points are. */
	if (e->has_file)
		bytes_put(&b, " <INPUT", 8);
	else
		bytes_put(&b, " </dev/null", 12);
	return mem_strdup((const char *)b.data);
}

static int compare_stream(const char *a, const char *b, int first, int second,
	struct difference_row *ret, struct error *err)
{
	if (strcmp(a, b) == 0)
		return 0;
	ret->differs = true;
	return difference_lines(first, second, ret, err) < 0 ? -1 : 0;
}

static int tell(const struct explored *e, struct told *ret, struct error *err)
{
	struct told CLEANUP(told_finish) t = {0};
	const struct outcome *a = &e->base->outcome, *b = &e->bad->outcome;

	t.before = end_text(a);
	t.after = end_text(b);
	t.ends = strcmp(t.before, t.after) != 0;
	t.tree = strcmp(a->tree, b->tree) != 0 && b->end != ONE_TIMEOUT;
	if (compare_stream(a->out, b->out, e->base->out, e->bad->out, &t.out, err) < 0 ||
		compare_stream(a->err, b->err, e->base->err, e->bad->err, &t.err, err) < 0 ||
		race_switches(e->bad, &t.switches, &t.count, err) < 0)
		return -1;
	t.race = race_name(b, t.switches, t.count, &t.kind);
	t.list = switches_text(e->switches, e->switch_count);
	t.command = command_text(e, t.list);
	*ret = t;
	t = (struct told){0};
	return 0;
}

static void put_line(struct bytes *b, char *line)
{
	bytes_put(b, line, strlen(line));
	bytes_put(b, "\n", 1);
	free(line);
}

static void put_row(struct bytes *b, const char *name, const struct difference_row *row)
{
	if (!row->differs)
		return;
	put_line(b, row->line ? str_format("%s differs at line %llu", name,
					(unsigned long long)row->line)
			      : str_format("%s differs", name));
	put_line(b, str_format("  by the rule: %s", row->first ? row->first : "(ends before)"));
	put_line(b, str_format("  now:         %s", row->second ? row->second : "(ends before)"));
}

int explored_text(const struct explored *e, char **ret, struct error *err)
{
	struct told CLEANUP(told_finish) t = {0};
	auto_bytes struct bytes b = {0};

	if (!e->seed) {
		*ret = str_format(
			"none of %zu seeds changes how it ends or what it puts out", e->runs);
		return 0;
	}
	if (tell(e, &t, err) < 0)
		return -1;
	put_line(&b, t.ends ? str_format("seed %llu of %zu: %s instead of %s",
				      (unsigned long long)e->seed, e->runs, t.after, t.before)
			    : str_format("seed %llu of %zu: the same end, another output",
				      (unsigned long long)e->seed, e->runs));
	put_row(&b, "standard output", &t.out);
	put_row(&b, "standard error", &t.err);
	if (t.tree)
		put_line(&b, mem_strdup("the files that it wrote differ"));
	if (e->is_shrunk)
		put_line(&b, str_format("forced switches: %zu of the seed's %zu are enough",
				     e->switch_count, e->forced));
	else
		put_line(&b, str_format("forced switches: %zu; the list alone does not do it again",
				     e->forced));
	for (size_t i = 0; i < t.count; i++) {
		autofree char *text = race_switch_text(&t.switches[i]);

		put_line(&b, str_format("  %s", text));
	}
	put_line(&b, mem_strdup(t.race));
	bytes_put(&b, t.command, strlen(t.command) + 1);
	*ret = mem_strdup((const char *)b.data);
	return 0;
}

static json_t *outcome_json(const struct outcome *o)
{
	json_t *v = json_object();

	json_put(v, "status", json_u64((uint64_t)status_of(o)));
	json_put(v, "signal", o->signal ? json_u64((uint64_t)o->signal) : json_null());
	json_put(v, "deadlock", o->deadlock[0] ? json_str(o->deadlock) : json_null());
	json_put(v, "stdout", json_str(o->out));
	json_put(v, "stderr", json_str(o->err));
	json_put(v, "tree", o->tree[0] ? json_str(o->tree) : json_null());
	return v;
}

static json_t *changes_json(const struct told *t)
{
	json_t *v = json_array();

	if (t->ends)
		json_add(v, json_str("exit"));
	if (t->out.differs)
		json_add(v, json_str("stdout"));
	if (t->err.differs)
		json_add(v, json_str("stderr"));
	if (t->tree)
		json_add(v, json_str("tree"));
	return v;
}

static json_t *switches_json(const struct told *t)
{
	json_t *v = json_array();

	for (size_t i = 0; i < t->count; i++) {
		autofree char *text = race_switch_text(&t->switches[i]);
		char at[SWITCH_TEXT];
		json_t *one = json_object();

		switch_format(&t->switches[i].at, at);
		json_put(one, "switch", json_str(at));
		json_put(one, "text", json_str(text));
		json_add(v, one);
	}
	return v;
}

int explored_json(const struct explored *e, json_t **ret, struct error *err)
{
	struct told CLEANUP(told_finish) t = {0};
	json_t *v, *race;

	if (e->seed && tell(e, &t, err) < 0)
		return -1;
	v = json_object();
	json_put(v, "format", json_str("sandglass.explore/1"));
	json_put(v, "runs", json_u64(e->runs));
	json_put(v, "base", outcome_json(&e->base->outcome));
	json_put(v, "seed", e->seed ? json_u64(e->seed) : json_null());
	if (!e->seed) {
		json_put(v, "found", json_null());
		*ret = v;
		return 0;
	}
	race = json_object();
	json_put(race, "outcome", outcome_json(&e->bad->outcome));
	json_put(race, "changes", changes_json(&t));
	json_put(race, "kind", json_str(t.kind));
	json_put(race, "text", json_str(t.race));
	json_put(race, "forced", json_u64(e->forced));
	json_put(race, "shrunk", json_boolean(e->is_shrunk));
	json_put(race, "switches", switches_json(&t));
	json_put(race, "command", json_str(t.command));
	json_put(v, "found", race);
	*ret = v;
	return 0;
}
