/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in a run: see events.h.
 *
 * How it works: the decisions of a replay are gone through once. What came in is put where the
 * replay gave it, what went out before the first call that is not earlier.
 */
#include "run/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/difference.h"
#include "tape/effect.h"
#include "tape/input.h"
#include "tape/net.h"

enum { CHUNK = DECISION_SIZE * 1024, SHOWN = 80, CALLS_SHOWN = 12 };

struct collecting {
	struct events *e;
	const struct picture *p;
	struct tape_record record; /* read ahead */
	bool has_record;
	size_t came;	  /* records that came in, so far */
	uint64_t ordinal; /* of the decision */
	uint32_t running; /* the task of the run that is open; 0: none is */
};

void events_finish(struct events *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->items[i].text);
	free(e->items);
	*e = (struct events){0};
}

/* Takes text. NULL: there are enough. */
static struct event *add(struct collecting *c, struct event event)
{
	struct events *e = c->e;

	if (e->count == PICTURE_MAX) {
		e->is_cut = true;
		free(event.text);
		return NULL;
	}
	e->items = mem_grow(e->items, e->count + 1, sizeof(*e->items));
	e->items[e->count] = event;
	return &e->items[e->count++];
}

static char *record_text(const struct tape_record *r)
{
	struct tape_input in;
	struct tape_received got;
	struct tape_effect out;

	if (tape_effect_decode(r, &out) == 0)
		return str_format("%u bytes go to standard %s", out.len,
			out.stream == 1 ? "output" : "error");
	if (tape_input_decode(r, &in) == 0) {
		autofree char *some =
			in.len ? str_printable((const char *)in.data, in.len, SHOWN) : NULL;

		if (in.signal)
			return str_format("signal %u from outside", in.signal);
		return in.len ? str_format("standard input, %zu bytes: %s", in.len, some)
			      : mem_strdup("the end of standard input");
	}
	if (tape_received_decode(r, &got) == 0)
		return str_format("connection %u: %zu bytes", got.stream, got.len);
	return mem_strdup(tape_kind_name(r->kind));
}

static int next_record(struct collecting *c, struct error *err)
{
	struct tape_effect out;
	int got;

	do {
		got = tape_next(c->p->tape, &c->record, err);
	} while (got > 0 &&
		 (c->record.kind == TAPE_OUTCOME || (tape_effect_decode(&c->record, &out) == 0 &&
							    out.state != TAPE_EFFECT_DONE)));
	c->has_record = got > 0;
	return got < 0 ? -1 : 0;
}

static bool goes_out(const struct tape_record *r)
{
	return r->kind == TAPE_EFFECT || r->kind == TAPE_SENT;
}

/* The record is of before this decision. */
static bool is_due(const struct collecting *c, const struct decision *d)
{
	const struct bytes *moments = c->p->moments;

	if (goes_out(&c->record))
		return c->record.now_ns <= d->now_ns && d->kind == DECISION_CALL;
	return moments && c->came < moments->len / 8 &&
	       bytes_load_u64(moments->data + 8 * c->came) < c->ordinal;
}

static int add_record(struct collecting *c, struct error *err)
{
	bool is_out = goes_out(&c->record);

	c->came += !is_out;
	add(c, (struct event){.kind = is_out ? EVENT_EFFECT : EVENT_INPUT,
		       .task = c->record.task,
		       .now_ns = c->record.now_ns,
		       .text = record_text(&c->record)});
	c->running = 0;
	return next_record(c, err);
}

static void add_call(struct collecting *c, const struct decision *d)
{
	struct event *last = c->e->count ? &c->e->items[c->e->count - 1] : NULL;
	const char *name = difference_call_name(d->nr);
	char *longer;

	if (!c->running || c->running != d->task || !last || last->kind != EVENT_RUN) {
		last = add(c, (struct event){.kind = EVENT_RUN,
				      .task = d->task,
				      .now_ns = d->now_ns,
				      .text = mem_strdup("")});
		c->running = d->task;
	}
	if (!last || ++last->calls > CALLS_SHOWN)
		return;
	longer = last->calls == CALLS_SHOWN
			 ? str_format("%s ...", last->text)
			 : str_format("%s%s%s", last->text, last->calls > 1 ? ", " : "",
				   name ? name : "a call");
	free(last->text);
	last->text = longer;
}

static void add_decision(struct collecting *c, const struct decision *d)
{
	struct event e = {.task = d->task, .now_ns = d->now_ns};

	switch ((enum decision_kind)d->kind) {
	case DECISION_CALL:
		add_call(c, d);
		return;
	case DECISION_SWITCH:
	case DECISION_FORCED:
		c->running = 0;
		return;
	case DECISION_CLOCK:
		c->running = 0;
		/* By what came, which has been added. */
		if (c->e->count && c->e->items[c->e->count - 1].kind == EVENT_INPUT)
			return;
		e.kind = EVENT_TIMER;
		e.now_ns += d->args[0];
		e.moved_ns = d->args[0];
		e.text = mem_strdup("a timer comes due");
		break;
	case DECISION_SIGNAL:
		e.kind = EVENT_SIGNAL;
		e.text = str_format("signal %u", d->nr);
		break;
	case DECISION_CREATE:
		e.kind = EVENT_CREATE;
		e.text = str_format("creates task %" PRIu64, d->args[0]);
		break;
	case DECISION_EXIT:
		e.kind = EVENT_EXIT;
		e.task = 0; /* the process's number is not a task's */
		e.text = d->nr & 0x7f ? str_format("process %" PRIu64 " is killed by signal %u",
						d->args[0], d->nr & 0x7f)
				      : str_format("process %" PRIu64 " exits with %u", d->args[0],
						d->nr >> 8);
		break;
	default:
		return;
	}
	add(c, e);
}

static int take(struct collecting *c, const struct decision *d, struct error *err)
{
	c->ordinal++;
	while (c->has_record && is_due(c, d))
		if (add_record(c, err) < 0)
			return -1;
	add_decision(c, d);
	return 0;
}

static int take_decisions(struct collecting *c, const struct decisions *d, struct error *err)
{
	autofree unsigned char *buf = mem_alloc(CHUNK);

	for (uint64_t at = 0; at < d->kept && !c->e->is_cut;) {
		ssize_t n = pread(d->keep, buf, CHUNK, (off_t)at);

		if (n < DECISION_SIZE)
			return error_sys(err, "read the decisions of the run");
		n -= n % DECISION_SIZE;
		for (ssize_t i = 0; i < n; i += DECISION_SIZE) {
			struct decision one;

			decision_decode(buf + i, &one);
			if (take(c, &one, err) < 0)
				return -1;
		}
		at += (uint64_t)n;
	}
	return 0;
}

/* Whoever runs when the clock has moved was woken by that. */
static void name_timers(struct events *e)
{
	uint32_t task = 0;

	for (size_t i = e->count; i-- > 0;)
		if (e->items[i].kind == EVENT_RUN)
			task = e->items[i].task;
		else if (e->items[i].kind == EVENT_TIMER)
			e->items[i].task = task;
}

int events_collect(struct events *e, const struct picture *p, struct error *err)
{
	struct collecting c = {.e = e, .p = p};

	if (tape_seek(p->tape, 1, err) < 0 || next_record(&c, err) < 0)
		return -1;
	if (p->decisions && take_decisions(&c, p->decisions, err) < 0)
		return -1;
	while (c.has_record && !e->is_cut)
		if (add_record(&c, err) < 0)
			return -1;
	name_timers(e);
	return 0;
}
