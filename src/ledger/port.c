/* SPDX-License-Identifier: Apache-2.0 */
/* The lender's side of a port: one request at a time, from a process that is not trusted. */
#include "ledger/port.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/temp.h"
#include "ledger/frame.h"
#include "ledger/inside.h"

struct ledger_port {
	struct ledger *ledger;	    /* borrowed */
	struct ledger_writer *head; /* what the run was when it was lent */
	struct ledger_port_limits limits;
	int fd, spool;
	struct bytes in, out;
	size_t written; /* of out */
	uint64_t appended, spooled, number;
	bool is_spent;
	char *fault;
};

int ledger_port_fd(const struct ledger_port *p)
{
	return p->fd;
}

short ledger_port_wants(const struct ledger_port *p)
{
	return p->out.len > p->written ? POLLOUT : POLLIN;
}

uint64_t ledger_port_appended(const struct ledger_port *p)
{
	return p->appended;
}

bool ledger_port_is_spent(const struct ledger_port *p)
{
	return p->is_spent;
}

const char *ledger_port_fault(const struct ledger_port *p)
{
	return p->fault;
}

void ledger_port_cleanup(struct ledger_port **p)
{
	if (!*p)
		return;
	fd_close(&(*p)->fd);
	fd_close(&(*p)->spool);
	bytes_finish(&(*p)->in);
	bytes_finish(&(*p)->out);
	ledger_writer_cleanup(&(*p)->head);
	free((*p)->fault);
	free(*p);
	*p = NULL;
}

int ledger_port_open(struct ledger *l, const char *run, const struct ledger_port_limits *limits,
	struct ledger_port **ret, int *ret_fd, struct error *err)
{
	auto_ledger_port struct ledger_port *p = mem_alloc(sizeof(*p));
	int ends[2];

	*p = (struct ledger_port){.ledger = l, .limits = *limits, .fd = -1, .spool = -1};
	if (ledger_writer_open(l, run, &p->head, err) < 0 || temp_open(&p->spool, err) < 0)
		return -1;
	p->number = p->head->number;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "make a socket");
	p->fd = ends[0];
	*ret = take_ptr(p);
	*ret_fd = ends[1];
	return 0;
}

static void cut_off(struct ledger_port *p, const char *why)
{
	if (!p->fault)
		p->fault = mem_strdup(why);
	fd_close(&p->fd);
}

static void refuse(struct ledger_port *p, const struct error *why)
{
	frame_begin(&p->out, FRAME_REFUSED);
	bytes_put_u32(&p->out, (uint32_t)why->code);
	frame_put_text(&p->out, why->msg, strlen(why->msg));
	frame_end(&p->out);
}

static void answer_hello(struct ledger_port *p)
{
	const struct ledger_run *run = &p->head->run;

	frame_begin(&p->out, FRAME_HELLO);
	frame_put_text(&p->out, run->id, strlen(run->id));
	frame_put_text(&p->out, run->goal, run->goal ? strlen(run->goal) : 0);
	bytes_put_u64(&p->out, p->head->seq);
	bytes_put_u64(&p->out, p->number);
	frame_end(&p->out);
}

/* Events of the prefix alone: who appended knows what it was. */
static int answer_read(struct ledger_port *p, uint64_t from, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	uint32_t count = 0;
	int got = 0;

	frame_begin(&p->out, FRAME_EVENTS);
	bytes_put_u32(&p->out, 0);
	if (p->head->seq && from <= p->head->seq) {
		if (ledger_events(p->ledger, p->head->run.id, from, p->head->seq, &c, err) < 0)
			return -1;
		while (p->out.len < FRAME_BATCH && (got = ledger_next(c, &e, err)) > 0) {
			frame_put_event(&p->out, &e);
			count++;
		}
	}
	bytes_store_u32(p->out.data + FRAME_HEAD, count);
	frame_end(&p->out);
	return got < 0 ? -1 : 0;
}

static int check_limits(struct ledger_port *p, uint64_t count, uint64_t bytes, struct error *why)
{
	if (p->limits.events && count > p->limits.events - p->appended) {
		p->is_spent = true;
		return error_set(why, ERR_LIMIT, "no more than %llu events may be appended",
			(unsigned long long)p->limits.events);
	}
	if (p->limits.bytes && bytes > p->limits.bytes - p->spooled) {
		p->is_spent = true;
		return error_set(why, ERR_LIMIT, "no more than %llu bytes may be appended",
			(unsigned long long)p->limits.bytes);
	}
	return 0;
}

/* One batch as it came: looked through, then laid down. */
static int take_batch(struct ledger_port *p, struct bytes_reader *r, struct error *why)
{
	struct bytes_reader look = *r;
	uint64_t size = (uint64_t)(r->end - r->pos);
	unsigned char head[8];
	uint32_t count;

	if (bytes_get_u8(&look) && ledger_kind(p->ledger) != LEDGER_OURS)
		return error_set(why, ERR_UNSUPPORTED, "this ledger has no atomic blocks");
	count = bytes_get_u32(&look);
	if (count == 0)
		return error_set(why, ERR_FORMAT, "nothing to append");
	for (uint32_t i = 0; i < count && !look.bad; i++) {
		struct frame_event CLEANUP(frame_event_finish) e;
		struct ledger_new n;

		frame_get_event(&look, &e);
		if (look.bad)
			break;
		n = (struct ledger_new){.type = e.event.type,
			.payload = e.event.payload,
			.payload_len = e.event.payload_len,
			.actor = e.event.actor,
			.caused_by = e.event.caused_by,
			.time_ns = e.event.time_ns};
		if (ledger_check_new(&n, why) < 0)
			return -1;
	}
	if (look.bad || look.pos != look.end)
		return error_set(why, ERR_FORMAT, "a batch that is none");
	if (check_limits(p, count, size, why) < 0)
		return -1;
	bytes_store_u64(head, size);
	if (fd_write_all(p->spool, head, sizeof(head), why) < 0 ||
		fd_write_all(p->spool, r->pos, size, why) < 0)
		return -1;
	p->appended += count;
	p->spooled += size;
	p->number += count;
	return 0;
}

static void answer_append(struct ledger_port *p, struct bytes_reader *r)
{
	char id[LEDGER_ID_SIZE];
	struct error why = {0};

	if (take_batch(p, r, &why) < 0) {
		refuse(p, &why);
		return;
	}
	ledger_id_format(id, p->number);
	frame_begin(&p->out, FRAME_DONE);
	frame_put_text(&p->out, id, strlen(id));
	frame_end(&p->out);
}

/* The request in p->in; what it leaves in p->out is the answer. */
static int answer(struct ledger_port *p, struct error *err)
{
	struct bytes_reader r = bytes_reader(p->in.data + FRAME_HEAD, p->in.len - FRAME_HEAD);
	uint8_t kind = p->in.data[4];

	p->out.len = p->written = 0;
	if (kind == FRAME_HELLO) {
		answer_hello(p);
	} else if (kind == FRAME_READ) {
		uint64_t from = bytes_get_u64(&r);

		if (r.bad)
			cut_off(p, "a request to read that is none");
		else if (answer_read(p, from, err) < 0)
			return -1;
	} else if (kind == FRAME_APPEND) {
		answer_append(p, &r);
	} else {
		cut_off(p, "a request of no known kind");
	}
	p->in.len = 0;
	return 0;
}

/* More of the request: 1 when it is whole. */
static int take_in(struct ledger_port *p)
{
	unsigned char buffer[65536];
	uint32_t len = p->in.len >= FRAME_HEAD ? bytes_load_u32(p->in.data) : 1;
	size_t want = len + 4 - p->in.len;
	ssize_t n =
		recv(p->fd, buffer, want < sizeof(buffer) ? want : sizeof(buffer), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		/* Its end, or its death: no fault of the rules. */
		fd_close(&p->fd);
		return 0;
	}
	bytes_put(&p->in, buffer, (size_t)n);
	if (p->in.len < FRAME_HEAD)
		return 0;
	len = bytes_load_u32(p->in.data);
	if (len < 1 || len > FRAME_MAX) {
		cut_off(p, "a request longer than any may be");
		return 0;
	}
	return p->in.len == (size_t)len + 4;
}

static void put_out(struct ledger_port *p)
{
	ssize_t n = send(p->fd, p->out.data + p->written, p->out.len - p->written,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		p->written += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		fd_close(&p->fd);
}

int ledger_port_step(struct ledger_port *p, struct error *err)
{
	if (p->fd >= 0 && p->out.len == p->written && take_in(p) && answer(p, err) < 0)
		return error_wrap(err, "run %s", p->head->run.id);
	if (p->fd >= 0 && p->out.len > p->written)
		put_out(p);
	return 0;
}

/* One batch of the nameless file, within the transaction. */
static int append_batch(struct ledger_writer *w, const char *data, size_t size, struct error *err)
{
	struct bytes_reader r = bytes_reader(data, size);
	bool is_block = bytes_get_u8(&r) != 0;
	uint32_t count = bytes_get_u32(&r);
	uint64_t block = is_block ? w->seq + count : 0;

	for (uint32_t i = 0; i < count; i++) {
		struct frame_event CLEANUP(frame_event_finish) e;
		struct ledger_new n;

		frame_get_event(&r, &e);
		if (r.bad)
			return error_set(err, ERR_FORMAT, "what was appended is not as it came");
		n = (struct ledger_new){.type = e.event.type,
			.payload = e.event.payload,
			.payload_len = e.event.payload_len,
			.actor = e.event.actor,
			.caused_by = e.event.caused_by,
			.frame = e.event.frame,
			.time_ns = e.event.time_ns > w->time_ns ? e.event.time_ns : 0};
		if (w->ledger->ops->append(w, &n, block, err) < 0)
			return -1;
	}
	return 0;
}

static int append_spool(struct ledger_port *p, struct error *err)
{
	unsigned char head[8];
	int got;

	if (lseek(p->spool, 0, SEEK_SET) < 0)
		return error_sys(err, "read what was appended");
	while ((got = fd_read_all(p->spool, head, sizeof(head), err)) > 0) {
		size_t size = bytes_load_u64(head);
		autofree char *data = mem_alloc(size + 1);

		if (fd_read_all(p->spool, data, size, err) <= 0 ||
			append_batch(p->head, data, size, err) < 0)
			return -1;
	}
	return got;
}

int ledger_port_commit(struct ledger_port *p, struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	uint64_t known = p->head->seq;

	fd_close(&p->fd);
	if (p->appended == 0)
		return 0;
	if (fault_point("ledger: begin copy") < 0)
		return error_sys(err, "append to the run");
	if (ledger_begin(p->ledger, &t, err) < 0 || p->ledger->ops->head(p->head, err) < 0)
		return -1;
	if (p->head->seq != known)
		return error_set(err, ERR_BUSY,
			"run %s has grown since: another writer has appended to it",
			p->head->run.id);
	if (append_spool(p, err) < 0)
		return -1;
	if (fault_point("ledger: commit copy") < 0)
		return error_sys(err, "append to the run");
	if (ledger_end(p->ledger, &t, err) < 0)
		return -1;
	return fault_point("ledger: copied") < 0 ? error_sys(err, "append to the run") : 0;
}
