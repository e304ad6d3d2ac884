/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor tells the host: see report.h and docs/format/control. */
#include "supervise/report.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "supervise/engine/clock.h"
#include "supervise/io/watch.h"
#include "wire/frame.h"

enum { DECISIONS_PER_FRAME = 1024, DETAILS_MAX = 16, OUT_MAX = 65536 };

struct counts report_counts;

static int control = -1;
static bool killed_outside;
static bool decisions_on;
static unsigned char decisions[DECISIONS_PER_FRAME * DECISION_SIZE];
static size_t decisions_len;
static struct bytes out; /* frames not written yet */
static struct {
	uint64_t count;
	uint32_t detail_count;
	uint64_t details[DETAILS_MAX]; /* hashes of the details said */
} said[REASON_COUNT];

void report_init(int control_fd, bool with_decisions)
{
	control = control_fd;
	decisions_on = with_decisions;
}

/* A host that is gone takes us with it: nobody would read what the guest did. */
static void write_out(void)
{
	struct error err;

	if (out.len && fd_write_all(control, out.data, out.len, &err) < 0)
		_Exit(125);
	out.len = 0;
}

static void flush_decisions(void)
{
	if (decisions_len)
		frame_put(&out, FRAME_DECISIONS, decisions, decisions_len);
	decisions_len = 0;
}

void report_flush(void)
{
	flush_decisions();
	write_out();
}

/* Frames wait for company, since each write wakes the host; `now` are those a user waits for. */
static void send_frame(enum frame_type type, const struct bytes *b, bool now)
{
	frame_put(&out, type, b->data, b->len);
	if (now || out.len >= OUT_MAX)
		write_out();
}

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325; /* FNV-1a */

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

/* True the first time this detail comes with this reason, for at most DETAILS_MAX of them. */
static bool is_news(enum reason reason, const char *detail)
{
	uint64_t h = hash_text(detail);

	for (uint32_t i = 0; i < said[reason].detail_count; i++)
		if (said[reason].details[i] == h)
			return false;
	if (said[reason].detail_count == DETAILS_MAX)
		return false;
	said[reason].details[said[reason].detail_count++] = h;
	return true;
}

static void say(enum frame_type type, enum reason reason, const char *detail)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, reason);
	if (type == FRAME_NOT_ENFORCED)
		bytes_put_u32(&b, is_news(reason, detail));
	bytes_put_string(&b, detail);
	send_frame(type, &b, true);
}

void report_not_enforced(enum reason reason, const char *fmt, ...)
{
	char detail[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	said[reason].count++;
	say(FRAME_NOT_ENFORCED, reason, detail);
}

void report_assumption(enum reason reason, const char *fmt, ...)
{
	char detail[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	say(FRAME_ASSUMPTION, reason, detail);
}

static void put_decision(const struct decision *d)
{
	report_counts.decisions++;
	if (!decisions_on)
		return;
	decision_encode(decisions + decisions_len, d);
	decisions_len += DECISION_SIZE;
	if (decisions_len == sizeof(decisions)) {
		flush_decisions();
		write_out();
	}
}

void report_decision(
	enum decision_kind kind, struct task *t, int nr, const uint64_t args[3], int64_t result)
{
	struct decision d = {.kind = (uint16_t)kind,
		.nr = (uint16_t)nr,
		.task = t ? t->ordinal : 0,
		.now_ns = clock_monotonic(),
		.result = result};

	if (args)
		memcpy(d.args, args, sizeof(d.args));
	put_decision(&d);
}

void report_forced(const struct contract_switch *s, int nr, int64_t ip)
{
	put_decision(&(struct decision){.kind = DECISION_FORCED,
		.nr = (uint16_t)nr,
		.task = s->task,
		.now_ns = clock_monotonic(),
		.args = {s->point, s->steps, s->next},
		.result = ip});
}

static void send_timer(enum frame_type type, struct task *t, uint64_t deadline_ns)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, t ? t->ordinal : 0);
	bytes_put_u64(&b, deadline_ns);
	send_frame(type, &b, false);
}

void report_timer_armed(struct task *t, uint64_t deadline_ns)
{
	send_timer(FRAME_TIMER_ARMED, t, deadline_ns);
}

void report_timer_fired(struct task *t, uint64_t deadline_ns)
{
	send_timer(FRAME_TIMER_FIRED, t, deadline_ns);
}

void report_external_read(struct task *t, uint64_t len, const char *what)
{
	auto_bytes struct bytes b = {0};

	report_counts.external_reads++;
	bytes_put_u32(&b, t ? t->ordinal : 0);
	bytes_put_u64(&b, len);
	bytes_put_string(&b, what);
	send_frame(FRAME_EXTERNAL_READ, &b, false);
}

void report_entropy(uint32_t process, uint64_t draw, uint32_t len)
{
	auto_bytes struct bytes b = {0};

	report_counts.entropy_bytes += len;
	bytes_put_u32(&b, process);
	bytes_put_u64(&b, draw);
	bytes_put_u32(&b, len);
	send_frame(FRAME_ENTROPY, &b, false);
}

static void send_path(enum frame_type type, const struct task *t, const char *path)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, t->proc->ordinal);
	bytes_put_string(&b, path);
	send_frame(type, &b, false);
}

void report_exec(struct task *t, const char *path)
{
	send_path(FRAME_EXEC, t, path);
}

void report_mapped(struct task *t, const char *path)
{
	send_path(FRAME_MAPPED, t, path);
}

void report_started(uint32_t pid)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, pid);
	send_frame(FRAME_STARTED, &b, true);
}

void report_waiter(const struct task *t, const char *name, const char *call, const char *arguments,
	const char *what)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, t->ordinal);
	bytes_put_u32(&b, (uint32_t)t->proc->pid);
	bytes_put_u32(&b, (uint32_t)t->tid);
	bytes_put_string(&b, name);
	bytes_put_string(&b, call);
	bytes_put_string(&b, arguments);
	bytes_put_string(&b, what);
	send_frame(FRAME_WAITER, &b, false);
}

void report_deadlock(const char *text)
{
	auto_bytes struct bytes b = {0};

	bytes_put_string(&b, text);
	send_frame(FRAME_DEADLOCK, &b, true);
}

void report_killed_outside(void)
{
	killed_outside = true;
}

void report_failed(const struct error *err)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, err->code);
	bytes_put_u32(&b, (uint32_t)err->sys);
	bytes_put_string(&b, err->msg);
	send_frame(FRAME_FAILED, &b, true);
}

void report_exit(uint32_t kind, uint32_t code)
{
	auto_bytes struct bytes counts = {0}, b = {0};

	flush_decisions();
	report_counts.clock_final_ns = clock_realtime();
	report_counts.clock_advances = clock_advances();
	report_counts.timers_fired = timer_fired_count();
	counts_encode(&counts, &report_counts);
	send_frame(FRAME_COUNTS, &counts, false);
	bytes_put_u32(&b, kind);
	bytes_put_u32(&b, code);
	bytes_put_u32(&b, (watch_has_killed() ? FRAME_EXIT_OOM : 0u) |
				  (killed_outside ? FRAME_EXIT_KILLED : 0u));
	send_frame(FRAME_EXIT, &b, true);
}

/* What came while an answer was waited for; the host sends the guest one at most, and then kills.
 */
static int kept_signal;

static int receive(uint32_t *ret_type, struct bytes *b)
{
	struct error err;

	if (frame_recv(control, ret_type, b, &err) <= 0)
		_Exit(125);
	return 0;
}

void report_ask(const struct task *t, uint64_t request, uint64_t due_ns, struct report_input *ret)
{
	static struct bytes answer; /* what ret->data stands in */
	auto_bytes struct bytes b = {0};
	struct bytes_reader r;
	uint32_t type = 0;

	bytes_put_u64(&b, request);
	bytes_put_u64(&b, clock_monotonic());
	bytes_put_u64(&b, due_ns);
	bytes_put_u32(&b, t ? t->ordinal : 0);
	flush_decisions();
	send_frame(FRAME_INPUT_ASK, &b, true);
	while (receive(&type, &answer) == 0 && type == FRAME_SIGNAL) {
		r = bytes_reader(answer.data, answer.len);
		kept_signal = (int)bytes_get_u32(&r);
	}
	r = bytes_reader(answer.data, answer.len);
	if ((type != FRAME_INPUT && type != FRAME_NET_INPUT) || bytes_get_u64(&r) != request)
		_Exit(125);
	*ret = (struct report_input){.now_ns = bytes_get_u64(&r)};
	if (type == FRAME_NET_INPUT)
		ret->stream = bytes_get_u32(&r);
	ret->flags = bytes_get_u32(&r);
	if (type == FRAME_INPUT) {
		ret->len = bytes_get_u32(&r);
		return;
	}
	ret->error = bytes_get_u32(&r);
	ret->data = r.pos;
	ret->len = (uint32_t)(r.end - r.pos);
}

void report_connect(
	const struct task *t, uint32_t stream, bool datagrams, const struct endpoint *to)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, stream);
	bytes_put_u32(&b, t->ordinal);
	bytes_put_u64(&b, clock_monotonic());
	bytes_put_u32(&b, datagrams ? 2 : 1);
	endpoint_put(&b, to);
	send_frame(FRAME_NET_CONNECT, &b, false);
}

void report_sent(uint32_t stream, uint32_t flags, const void *data, size_t len)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, stream);
	bytes_put_u64(&b, clock_monotonic());
	bytes_put_u32(&b, flags);
	bytes_put(&b, data, len);
	send_frame(FRAME_NET_SENT, &b, false);
}

void report_wanted(uint32_t stream)
{
	auto_bytes struct bytes b = {0};

	bytes_put_u32(&b, stream);
	send_frame(FRAME_NET_WANTED, &b, false);
}

int report_asked_signal(void)
{
	int sig = kept_signal;

	kept_signal = 0;
	return sig;
}

int report_poll_signal(void)
{
	struct pollfd p = {.fd = control, .events = POLLIN};
	auto_bytes struct bytes b = {0};
	struct bytes_reader r;
	uint32_t type;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	receive(&type, &b);
	r = bytes_reader(b.data, b.len);
	return type == FRAME_SIGNAL ? (int)bytes_get_u32(&r) : 0;
}
