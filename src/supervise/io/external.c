/* SPDX-License-Identifier: Apache-2.0 */
/* Input from outside: see external.h and docs/format/control. */
#include "supervise/io/external.h"

#include "supervise/engine/clock.h"
#include "supervise/io/outside.h"
#include "supervise/report.h"
#include "wire/frame.h"

static bool asked_for, is_closed, was_looked_at;
static uint64_t requests;

void external_init(bool is_asked_for)
{
	asked_for = is_asked_for;
}

bool external_is_asked_for(void)
{
	return asked_for;
}

bool external_stdin_is_over(void)
{
	return is_closed;
}

void external_looked(void)
{
	was_looked_at = true;
}

bool external_take_looked(void)
{
	bool was = was_looked_at;

	was_looked_at = false;
	return was && asked_for;
}

static struct task *waiter(void)
{
	for (struct task *t = task_list; t; t = t->next)
		if (t->state == TASK_PARKED && t->park.external)
			return t;
	return NULL;
}

bool external_is_waited_for(void)
{
	return asked_for && waiter();
}

static enum external_answer take_connection(
	struct task *t, const struct report_input *in, uint64_t *ret_now_ns)
{
	outside_take(&(struct outside_input){.stream = in->stream,
		.flags = in->flags,
		.error = in->error,
		.data = in->data,
		.len = in->len});
	*ret_now_ns = in->now_ns;
	if (!(in->flags & FRAME_NET_CONNECTED))
		report_external_read(t, in->len, "connection");
	return EXTERNAL_CAME;
}

enum external_answer external_ask(uint64_t due_ns, uint64_t *ret_now_ns)
{
	struct task *t = waiter();
	struct report_input in;

	outside_tell_wanted();
	report_ask(t, ++requests, due_ns, &in);
	if (in.stream)
		return take_connection(t, &in, ret_now_ns);
	if (in.flags & FRAME_INPUT_SIGNAL)
		return EXTERNAL_SIGNAL;
	if (in.flags & FRAME_INPUT_NO_ROOM)
		return EXTERNAL_NO_MORE;
	is_closed |= (in.flags & FRAME_INPUT_END) != 0;
	if (!in.len && !(in.flags & FRAME_INPUT_END))
		return EXTERNAL_NOTHING;
	*ret_now_ns = in.now_ns;
	report_external_read(t, in.len, "standard input");
	return EXTERNAL_CAME;
}
