/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input that leads outside: see external.h and docs/format/control. */
#include "supervise/io/external.h"

#include "supervise/engine/clock.h"
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

void external_looked(void)
{
	was_looked_at = true;
}

bool external_take_looked(void)
{
	bool was = was_looked_at;

	was_looked_at = false;
	return was && asked_for && !is_closed;
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
	return asked_for && !is_closed && waiter();
}

enum external_answer external_ask(uint64_t due_ns, uint64_t *ret_now_ns)
{
	struct task *t = waiter();
	struct report_input in;

	if (is_closed)
		return EXTERNAL_NO_MORE;
	report_ask(t, ++requests, due_ns, &in);
	if (in.flags & FRAME_INPUT_SIGNAL)
		return EXTERNAL_SIGNAL;
	if (in.flags & FRAME_INPUT_NO_ROOM)
		return EXTERNAL_NO_MORE;
	is_closed = in.flags & FRAME_INPUT_END;
	if (!in.len && !is_closed)
		return EXTERNAL_NOTHING;
	*ret_now_ns = in.now_ns;
	report_external_read(t, in.len, "standard input");
	return EXTERNAL_CAME;
}
