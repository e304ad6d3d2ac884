/* SPDX-License-Identifier: Apache-2.0 */
/* What the tape commands share: see tape.h. */
#include "cli/tape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/replay.h"
#include "crypto/digest.h"
#include "tape/effect.h"
#include "tape/input.h"
#include "tape/net.h"
#include "wire/endpoint.h"

enum { PREVIEW = 60 };

int cli_tape_open(char **words, struct tape_reader **ret, json_t **ret_header, struct error *err)
{
	auto_tape_reader struct tape_reader *r = NULL;

	if (!words[0] || words[1])
		return error_set(err, ERR_USAGE, "one tape, please");
	if (tape_open(words[0], &r, err) < 0)
		return -1;
	if (replay_header(r, ret_header, err) < 0)
		return error_wrap(err, "tape '%.300s'", words[0]);
	*ret = take_ptr(r);
	return 0;
}

static char *input_text(const struct tape_input *in)
{
	autofree char *some = str_printable((const char *)in->data, in->len, PREVIEW);

	if (in->flags & TAPE_INPUT_END)
		return str_format("standard input, question %" PRIu64 ": the end", in->request);
	return str_format(
		"standard input, question %" PRIu64 ": %zu bytes: %s", in->request, in->len, some);
}

static const char *flags_text(uint32_t flags)
{
	return flags & TAPE_NET_RESET ? ": broken off" : flags & TAPE_NET_END ? ": the end" : "";
}

static void address_of(const struct tape_connect *c, char ret[static ENDPOINT_TEXT])
{
	struct endpoint to = {.family = c->family, .port = c->port};

	memcpy(to.ip, c->ip, sizeof(to.ip));
	endpoint_text(&to, ret);
}

static char *net_text(const struct tape_record *record)
{
	struct tape_connect c;
	struct tape_received r;
	struct tape_sent s;
	char to[ENDPOINT_TEXT];

	if (tape_connect_decode(record, &c) == 0) {
		address_of(&c, to);
		return str_format("connection %u, question %" PRIu64 ": %s to %s: %s", c.stream,
			c.request, c.datagrams ? "udp" : "tcp", to,
			c.error ? strerror((int)c.error) : "made");
	}
	if (tape_received_decode(record, &r) == 0) {
		autofree char *some = str_printable((const char *)r.data, r.len, PREVIEW);

		return r.flags ? str_format("connection %u, question %" PRIu64 "%s", r.stream,
					 r.request, flags_text(r.flags))
			       : str_format("connection %u, question %" PRIu64 ": %zu bytes: %s",
					 r.stream, r.request, r.len, some);
	}
	if (tape_sent_decode(record, &s) == 0) {
		autofree char *some = str_printable((const char *)s.shown, s.shown_len, PREVIEW);

		return s.flags ? str_format("connection %u%s", s.stream, flags_text(s.flags))
			       : str_format("connection %u: %" PRIu64 " bytes: %s", s.stream,
					 s.bytes, some);
	}
	return mem_strdup("(not as a record of a connection should be)");
}

static const char *const states[] = {"planned", "begun", "done"};

static char *effect_text(const struct tape_effect *e)
{
	return str_format("standard %s, after question %" PRIu64 ": %u bytes from byte %" PRIu64
			  " on: %s",
		e->stream == 1 ? "output" : "error", e->request, e->len, e->offset,
		states[e->state]);
}

static void put_effect(json_t *o, const struct tape_effect *e)
{
	json_put(o, "stream", json_u64(e->stream));
	json_put(o, "request", json_u64(e->request));
	json_put(o, "state", json_str(states[e->state]));
	json_put(o, "offset", json_u64(e->offset));
	json_put(o, "bytes", json_u64(e->len));
}

static char *detail_text(const struct tape_record *record)
{
	struct tape_effect effect;
	struct tape_input in;

	if (record->kind == TAPE_EFFECT && tape_effect_decode(record, &effect) == 0)
		return effect_text(&effect);

	if (record->kind == TAPE_INPUT && tape_input_decode(record, &in) == 0)
		return input_text(&in);
	if (record->kind == TAPE_SIGNAL && tape_input_decode(record, &in) == 0)
		return str_format("question %" PRIu64 ": signal %u", in.request, in.signal);
	if (record->kind == TAPE_CONNECT || record->kind == TAPE_RECEIVED ||
		record->kind == TAPE_SENT)
		return net_text(record);
	if (record->kind == TAPE_INPUT)
		return mem_strdup("(not as a record of input should be)");
	return str_printable((const char *)record->payload, record->len, 2 * PREVIEW);
}

char *cli_tape_line(const struct tape_record *record)
{
	autofree char *detail = detail_text(record);

	return str_format("%8" PRIu64 " %8" PRIu64 ".%09" PRIu64 "  task %-3u %-8s %s",
		record->ordinal, record->now_ns / 1000000000, record->now_ns % 1000000000,
		record->task, tape_kind_name(record->kind), detail);
}

/* The members of a record of a connection; false: it is none. */
static bool net_json(const struct tape_record *record, json_t *o)
{
	struct tape_connect c;
	struct tape_received r;
	struct tape_sent s;
	char text[2 * sizeof(s.sha256) + 1];

	if (tape_connect_decode(record, &c) == 0) {
		address_of(&c, text);
		json_put(o, "connection", json_u64(c.stream));
		json_put(o, "request", json_u64(c.request));
		json_put(o, "protocol", json_str(c.datagrams ? "udp" : "tcp"));
		json_put(o, "address", json_str(text));
		json_put(o, "errno", json_u64(c.error));
		return true;
	}
	if (tape_received_decode(record, &r) == 0) {
		json_put(o, "connection", json_u64(r.stream));
		json_put(o, "request", json_u64(r.request));
		json_put(o, "end", json_boolean(r.flags & TAPE_NET_END));
		json_put(o, "reset", json_boolean(r.flags & TAPE_NET_RESET));
		json_put(o, "bytes", json_u64(r.len));
		json_put(o, "data", json_bytes((const char *)r.data, r.len));
		return true;
	}
	if (tape_sent_decode(record, &s) < 0)
		return false;
	digest_hex(s.sha256, text);
	json_put(o, "connection", json_u64(s.stream));
	json_put(o, "request", json_u64(s.request));
	json_put(o, "end", json_boolean(s.flags & TAPE_NET_END));
	json_put(o, "reset", json_boolean(s.flags & TAPE_NET_RESET));
	json_put(o, "bytes", json_u64(s.bytes));
	json_put(o, "sha256", json_str(text));
	json_put(o, "first", json_bytes((const char *)s.shown, s.shown_len));
	return true;
}

json_t *cli_tape_json(const struct tape_record *record)
{
	json_t *o = json_object(), *value = NULL;
	struct tape_effect effect;
	struct error ignored;
	struct tape_input in;

	json_put(o, "ordinal", json_u64(record->ordinal));
	json_put(o, "now_ns", json_u64(record->now_ns));
	json_put(o, "task", json_u64(record->task));
	json_put(o, "kind", json_str(tape_kind_name(record->kind)));
	if (record->kind == TAPE_INPUT && tape_input_decode(record, &in) == 0) {
		json_put(o, "stream", json_u64(in.stream));
		json_put(o, "request", json_u64(in.request));
		json_put(o, "end", json_boolean(in.flags & TAPE_INPUT_END));
		json_put(o, "bytes", json_u64(in.len));
		json_put(o, "data", json_bytes((const char *)in.data, in.len));
	} else if (record->kind == TAPE_SIGNAL && tape_input_decode(record, &in) == 0) {
		json_put(o, "request", json_u64(in.request));
		json_put(o, "signal", json_u64(in.signal));
	} else if (net_json(record, o)) {
		return o;
	} else if (record->kind == TAPE_EFFECT && tape_effect_decode(record, &effect) == 0) {
		put_effect(o, &effect);
	} else if (record->kind == TAPE_OUTCOME &&
		   json_read((const char *)record->payload, record->len, TAPE_PAYLOAD_MAX, &value,
			   &ignored) == 0) {
		json_put(o, "outcome", value);
	} else {
		json_put(o, "payload", json_bytes((const char *)record->payload, record->len));
	}
	return o;
}

char *cli_tape_command(const json_t *header)
{
	json_t *argv = json_object_get(json_object_get(header, "contract"), "argv"), *word;
	auto_bytes struct bytes b = {0};
	size_t i;

	json_array_foreach(argv, i, word)
	{
		const char *text = json_string_value(word);

		if (i)
			bytes_put(&b, " ", 1);
		if (text)
			bytes_put(&b, text, strlen(text));
	}
	return str_printable((const char *)b.data, b.len, 1000);
}
