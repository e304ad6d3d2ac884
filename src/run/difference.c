/* SPDX-License-Identifier: Apache-2.0 */
/* Where two runs of one contract part: see difference.h. */
#include "run/difference.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "wire/sysnr.h"

enum { CHUNK = 64 * 1024, SHOWN = 200, BEFORE = 80 };

static const struct {
	int nr;
	const char *name;
} calls[] = {
#define SYSCALL(name, verdict, enter, leave, note) {NR_##name, #name},
#include "wire/syscalls.def"
#undef SYSCALL
};

void difference_finish(struct difference *d)
{
	for (int i = 0; i < DIFFERENCE_OUTPUTS; i++) {
		free(d->rows[i].first);
		free(d->rows[i].second);
	}
	*d = (struct difference){0};
}

bool difference_any(const struct difference *d)
{
	for (int i = 0; i < DIFFERENCE_OUTPUTS; i++)
		if (d->rows[i].differs)
			return true;
	return false;
}

const char *difference_name(enum difference_output o)
{
	static const char *const names[DIFFERENCE_OUTPUTS] = {
		"exit", "stdout", "stderr", "tree", "decisions"};

	return names[o];
}

static int read_chunk(int fd, char *buf, uint64_t at, size_t *ret_len, struct error *err)
{
	size_t got = 0;

	while (got < CHUNK) {
		ssize_t n = pread(fd, buf + got, CHUNK - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read a copy of the output");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*ret_len = got;
	return 0;
}

/* Where they part: *ret_at, and where that line begins and its number. 1, or 0 when they are the
 * same. */
static int find_difference(int first, int second, uint64_t *ret_at, uint64_t *ret_line_at,
	uint64_t *ret_line, struct error *err)
{
	autofree char *a = mem_alloc(CHUNK), *b = mem_alloc(CHUNK);
	uint64_t at = 0;
	size_t na = 0, nb = 0;

	*ret_line_at = 0;
	*ret_line = 1;
	for (;;) {
		if (read_chunk(first, a, at, &na, err) < 0 ||
			read_chunk(second, b, at, &nb, err) < 0)
			return -1;
		for (size_t i = 0; i < na || i < nb; i++) {
			if (i == na || i == nb || a[i] != b[i]) {
				*ret_at = at + i;
				return 1;
			}
			if (a[i] == '\n') {
				++*ret_line;
				*ret_line_at = at + i + 1;
			}
		}
		if (na == 0)
			return 0;
		at += na;
	}
}

/* The line around `at`, from not long before it; NULL when the file ends where the line would
 * begin. */
static int line_text(int fd, uint64_t line_at, uint64_t at, char **ret, struct error *err)
{
	autofree char *buf = mem_alloc(CHUNK), *text = NULL;
	uint64_t from = at - line_at > BEFORE ? at - BEFORE : line_at;
	char *end;
	size_t n = 0;

	*ret = NULL;
	if (read_chunk(fd, buf, from, &n, err) < 0)
		return -1;
	if (n == 0 && from == line_at)
		return 0;
	end = memchr(
		buf + (at - from < n ? at - from : n), '\n', n - (at - from < n ? at - from : n));
	text = str_printable(buf, end ? (size_t)(end - buf) : n, SHOWN);
	*ret = str_format("%s%s", from > line_at ? "..." : "", text);
	return 0;
}

int difference_lines(int first, int second, struct difference_row *ret, struct error *err)
{
	autofree char *a = NULL, *b = NULL;
	uint64_t at, line_at, line;
	int r = find_difference(first, second, &at, &line_at, &line, err);

	if (r <= 0)
		return r;
	if (line_text(first, line_at, at, &a, err) < 0 ||
		line_text(second, line_at, at, &b, err) < 0)
		return -1;
	*ret = (struct difference_row){
		.differs = true, .line = line, .first = take_ptr(a), .second = take_ptr(b)};
	return 1;
}

const char *difference_call_name(unsigned nr)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i].nr == (int)nr)
			return calls[i].name;
	return NULL;
}

/* Small numbers as they are, the rest, pointers mostly, in hex. */
static void format_argument(char out[24], uint64_t v)
{
	if (v < 65536)
		snprintf(out, 24, "%" PRIu64, v);
	else if (v > UINT64_MAX - 4096)
		snprintf(out, 24, "-%" PRIu64, UINT64_MAX - v + 1);
	else
		snprintf(out, 24, "0x%" PRIx64, v);
}

static char *call_text(const struct decision *d)
{
	const char *name = difference_call_name(d->nr);
	autofree char *number = str_format("syscall_%u", d->nr);
	char args[3][24];

	for (int i = 0; i < 3; i++)
		format_argument(args[i], d->args[i]);
	if (d->result == DECISION_NATIVE)
		return str_format(
			"%s(%s, %s, %s) = ?", name ? name : number, args[0], args[1], args[2]);
	return str_format("%s(%s, %s, %s) = %" PRId64, name ? name : number, args[0], args[1],
		args[2], d->result);
}

/* What the record means, by its kind. */
static char *meaning(const struct decision *d)
{
	switch (d->kind) {
	case DECISION_SIGNAL:
		return str_format("signal %u (%s)", d->nr,
			d->nr < 32 && d->nr ? strsignal(d->nr) : "real-time");
	case DECISION_SWITCH:
		return str_format("switch to task %" PRIu64, d->args[0]);
	case DECISION_CLOCK:
		return str_format("the clock moves by %" PRIu64 " ns", d->args[0]);
	case DECISION_EXIT:
		return str_format("exit with wait status 0x%x", d->nr);
	case DECISION_CREATE:
		return str_format("creates task %" PRIu64, d->args[0]);
	case DECISION_FORCED:
		return str_format(
			"task %u is preempted at its point %" PRIu64, d->task, d->args[0]);
	default:
		return str_format("record of unknown kind %u, number %u", d->kind, d->nr);
	}
}

char *difference_decision_text(const struct decision *d)
{
	autofree char *text = NULL;
	char args[3][24];

	if (d->kind == DECISION_CALL)
		return call_text(d);
	text = meaning(d);
	/* Every field that is compared is shown, or two sides could differ and look the same. */
	for (int i = 0; i < 3; i++)
		format_argument(args[i], d->args[i]);
	return str_format("%s [%u; %s, %s, %s; %" PRId64 "]", text, d->nr, args[0], args[1],
		args[2], d->result);
}
