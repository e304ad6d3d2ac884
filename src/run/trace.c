/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a run: see trace.h and docs/format/trace.
 *
 * What a pointer's value is depends on the layout of the program, of its libraries and of the
 * kernel, and says nothing to a reader: values of 65,536 and more are shown as a star, except where
 * a call's result is a count.
 */
#include "run/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/difference.h"
#include "run/place.h"
#include "run/switches.h"
#include "wire/sysnr.h"

enum { SMALL = 65536, ERRORS = 4096, CHUNK = DECISION_SIZE * 1024 };

static void format_value(char out[24], uint64_t v)
{
	if (v < SMALL)
		snprintf(out, 24, "%" PRIu64, v);
	else if (v >= UINT64_MAX - ERRORS)
		snprintf(out, 24, "-%" PRIu64, UINT64_MAX - v + 1);
	else if (v <= UINT32_MAX && v >= UINT32_MAX - ERRORS) /* an int, AT_FDCWD mostly */
		snprintf(out, 24, "-%" PRIu64, UINT32_MAX - v + 1);
	else
		snprintf(out, 24, "*");
}

static bool answers_address(unsigned nr)
{
	static const int calls[] = {NR_mmap, NR_mremap, NR_brk, NR_shmat};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i] == (int)nr)
			return true;
	return false;
}

static char *call_line(const struct decision *d)
{
	const char *name = difference_call_name(d->nr);
	autofree char *number = str_format("syscall_%u", d->nr);
	char args[3][24], result[24];

	for (int i = 0; i < 3; i++)
		format_value(args[i], d->args[i]);
	snprintf(result, sizeof(result), "%" PRId64, d->result);
	if (d->result == DECISION_NATIVE)
		snprintf(result, sizeof(result), "?");
	else if (answers_address(d->nr))
		format_value(result, (uint64_t)d->result);
	return str_format(
		"%s(%s, %s, %s) = %s", name ? name : number, args[0], args[1], args[2], result);
}

static char *exit_line(unsigned status)
{
	return status & 0x7f ? str_format("exit signal %u", status & 0x7f)
			     : str_format("exit %u", status >> 8);
}

static char *forced_line(const struct decision *d)
{
	const char *name = difference_call_name(d->nr);
	char text[SWITCH_TEXT];

	switch_format(&(struct contract_switch){.task = d->task,
			      .point = d->args[0],
			      .steps = (uint32_t)d->args[1],
			      .next = (uint32_t)d->args[2]},
		text);
	return str_format("forced %s %s", text, name ? name : "-");
}

static char *what(const struct decision *d)
{
	switch (d->kind) {
	case DECISION_CALL:
		return call_line(d);
	case DECISION_SIGNAL:
		return str_format("signal %u", d->nr);
	case DECISION_SWITCH:
		return str_format("switch %" PRIu64, d->args[0]);
	case DECISION_CLOCK:
		return str_format("clock +%" PRIu64, d->args[0]);
	case DECISION_EXIT:
		return exit_line(d->nr);
	case DECISION_CREATE:
		return str_format("create %" PRIu64, d->args[0]);
	case DECISION_FORCED:
		return forced_line(d);
	default:
		return str_format("decision %u", d->kind);
	}
}

char *trace_line(const struct decision *d)
{
	autofree char *text = what(d);

	return str_format("%" PRIu64 ".%09" PRIu64 " %u %s", d->now_ns / 1000000000,
		d->now_ns % 1000000000, d->task, text);
}

/* A few thousand lines at a time. */
static void put_lines(struct bytes *out, const unsigned char *records, size_t len)
{
	for (size_t i = 0; i < len; i += DECISION_SIZE) {
		struct decision one;
		autofree char *line = NULL;

		decision_decode(records + i, &one);
		line = trace_line(&one);
		bytes_put(out, line, strlen(line));
		bytes_put(out, "\n", 1);
	}
}

static int write_lines(int fd, const void *arg, struct error *err)
{
	static const char head[] = "# sandglass.trace/1\n";
	const struct decisions *d = arg;
	autofree unsigned char *buf = mem_alloc(CHUNK);
	autofree char *cut = NULL;

	if (fd_write_all(fd, head, sizeof(head) - 1, err) < 0)
		return -1;
	for (uint64_t at = 0; at < d->kept;) {
		auto_bytes struct bytes text = {0};
		ssize_t n = pread(d->keep, buf, CHUNK, (off_t)at);

		if (n < DECISION_SIZE)
			return error_sys(err, "read the decisions of the run");
		n -= n % DECISION_SIZE;
		put_lines(&text, buf, (size_t)n);
		if (fd_write_all(fd, text.data, text.len, err) < 0)
			return -1;
		at += (uint64_t)n;
	}
	if (d->kept == d->count * DECISION_SIZE)
		return 0;
	cut = str_format("# %" PRIu64 " more were not kept\n", d->count - d->kept / DECISION_SIZE);
	return fd_write_all(fd, cut, strlen(cut), err);
}

int trace_write(const char *path, const struct decisions *d, struct error *err)
{
	return place_write(path, write_lines, d, err) < 0
		       ? error_wrap(err, "--trace '%.200s'", path)
		       : 0;
}
