/* SPDX-License-Identifier: Apache-2.0 */
/* The borrower's side of a port: asks, waits for the answer. See port.h. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "ledger/frame.h"
#include "ledger/port.h"

struct ledger_link {
	int fd;
	char *run, *goal, *last_id;
	uint64_t shared, number;
	/* The events of the last answer that are still to come. */
	char *answer;
	struct bytes_reader rest;
	uint32_t left;
	uint64_t from;
	struct frame_event event;
};

void ledger_link_cleanup(struct ledger_link **k)
{
	if (!*k)
		return;
	fd_close(&(*k)->fd);
	frame_event_finish(&(*k)->event);
	free((*k)->run);
	free((*k)->goal);
	free((*k)->last_id);
	free((*k)->answer);
	free(*k);
	*k = NULL;
}

/* Sends a request; the answer's kind and body (k->answer, k->rest). */
static int ask(struct ledger_link *k, struct bytes *request, uint8_t *ret_kind, struct error *err)
{
	unsigned char head[FRAME_HEAD];
	uint32_t len;
	int got;

	frame_end(request);
	if (fd_write_all(k->fd, request->data, request->len, err) < 0)
		return error_wrap(err, "ask for the run");
	got = fd_read_all(k->fd, head, sizeof(head), err);
	len = got > 0 ? bytes_load_u32(head) : 0;
	if (got == 0 || (got > 0 && (len < 1 || len > FRAME_MAX)))
		return error_set(err, ERR_DIED, "the run was taken away");
	if (got < 0)
		return error_wrap(err, "read of the run");
	free(k->answer);
	k->answer = mem_alloc(len);
	if (len > 1 && fd_read_all(k->fd, k->answer, len - 1, err) <= 0)
		return error_set(err, ERR_DIED, "the run was taken away");
	k->rest = bytes_reader(k->answer, len - 1);
	*ret_kind = head[4];
	return 0;
}

int ledger_link_open(int fd, struct ledger_link **ret, struct error *err)
{
	auto_ledger_link struct ledger_link *k = mem_alloc(sizeof(*k));
	auto_bytes struct bytes request = {0};
	uint8_t kind;

	k->fd = fd;
	k->from = 1;
	k->last_id = mem_strdup("");
	frame_begin(&request, FRAME_HELLO);
	if (ask(k, &request, &kind, err) < 0)
		return -1;
	k->run = frame_get_string(&k->rest, LEDGER_LABEL_MAX);
	k->goal = frame_get_string(&k->rest, LEDGER_LABEL_MAX);
	k->shared = bytes_get_u64(&k->rest);
	k->number = bytes_get_u64(&k->rest);
	if (kind != FRAME_HELLO || k->rest.bad || !k->run)
		return error_set(err, ERR_FORMAT, "this is no port of a ledger");
	*ret = take_ptr(k);
	return 0;
}

const char *ledger_link_run(const struct ledger_link *k)
{
	return k->run;
}

const char *ledger_link_id(const struct ledger_link *k)
{
	return k->last_id;
}

uint64_t ledger_link_number(const struct ledger_link *k)
{
	return k->number;
}

static int read_more(struct ledger_link *k, struct error *err)
{
	auto_bytes struct bytes request = {0};
	uint8_t kind;

	frame_begin(&request, FRAME_READ);
	bytes_put_u64(&request, k->from);
	if (ask(k, &request, &kind, err) < 0)
		return -1;
	if (kind != FRAME_EVENTS)
		return error_set(err, ERR_FORMAT, "the run cannot be read");
	k->left = bytes_get_u32(&k->rest);
	return 0;
}

int ledger_link_next(struct ledger_link *k, struct ledger_event *ret, struct error *err)
{
	frame_event_finish(&k->event);
	if (k->left == 0 && read_more(k, err) < 0)
		return -1;
	if (k->left == 0)
		return 0;
	frame_get_event(&k->rest, &k->event);
	if (k->rest.bad || !k->event.event.id)
		return error_set(err, ERR_FORMAT, "the run cannot be read");
	k->left--;
	k->from = k->event.event.seq + 1;
	*ret = k->event.event;
	return 1;
}

int ledger_link_append(struct ledger_link *k, const struct ledger_new *events, size_t count,
	bool is_block, struct error *err)
{
	auto_bytes struct bytes request = {0};
	autofree char *text = NULL;
	uint32_t code;
	uint8_t kind;

	frame_begin(&request, FRAME_APPEND);
	bytes_put_u8(&request, is_block);
	bytes_put_u32(&request, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		struct ledger_event e = {.type = events[i].type,
			.actor = events[i].actor,
			.caused_by = events[i].caused_by,
			.frame = events[i].frame,
			.payload = events[i].payload,
			.payload_len = events[i].payload_len,
			.time_ns = events[i].time_ns};

		frame_put_event(&request, &e);
		if (request.len > FRAME_MAX)
			return error_set(err, ERR_LIMIT, "more bytes at once than %d", FRAME_MAX);
	}
	/* What is left of an answer to READ is gone with the next one: it is asked for again. */
	k->left = 0;
	if (ask(k, &request, &kind, err) < 0)
		return -1;
	if (kind == FRAME_DONE) {
		text = frame_get_string(&k->rest, LEDGER_LABEL_MAX);
		if (!text)
			return error_set(err, ERR_FORMAT, "no id came for what was appended");
		free(k->last_id);
		k->last_id = take_ptr(text);
		k->number += count;
		return 0;
	}
	code = bytes_get_u32(&k->rest);
	text = frame_get_string(&k->rest, LEDGER_LABEL_MAX);
	if (kind != FRAME_REFUSED || !text || code == ERR_NONE || code >= ERR_COUNT)
		return error_set(err, ERR_FORMAT, "an answer that is none");
	return error_set(err, (enum errcode)code, "%s", text);
}
