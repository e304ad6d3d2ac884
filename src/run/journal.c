/* SPDX-License-Identifier: Apache-2.0 */
/* What has gone out of a run, on its tape: see journal.h. */
#include "run/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "tape/effect.h"
#include "tape/input.h"
#include "tape/net.h"

/* How long a record that goes with no effect may wait for the disk. */
static const uint64_t group_ns = 200000000;

static uint64_t answered(const struct journal *j)
{
	return !j->feed ? 0 : j->feed->last_request - (j->feed->has_ask ? 1 : 0);
}

static int append(struct journal *j, const struct tape_effect *e, struct error *err)
{
	unsigned char payload[TAPE_EFFECT_SIZE];

	tape_effect_encode(payload, e);
	if (tape_append(j->writer, TAPE_EFFECT, 0, tape_last_ns(j->writer),
		    (struct tape_part[2]){{payload, sizeof(payload)}, {"", 0}}, err) < 0 ||
		tape_flush(j->writer, err) < 0)
		return error_wrap(err, "the journal");
	return 0;
}

static struct tape_effect effect(const struct journal *j, unsigned stream,
	enum tape_effect_state state, const void *data, size_t len)
{
	const struct journal_done *d = &j->done[stream];

	return (struct tape_effect){.stream = stream,
		.state = (uint32_t)state,
		.request = answered(j),
		.offset = d->bytes,
		.len = (uint32_t)len,
		.sum = crc32c(d->sum, data, len)};
}

int journal_plan(
	struct journal *j, unsigned stream, int to, const void *data, size_t len, struct error *err)
{
	struct tape_effect e = effect(j, stream, TAPE_EFFECT_PLANNED, data, len);
	struct stat st;
	off_t at;

	if (!j->writer)
		return 0;
	if (fstat(to, &st) == 0 && S_ISREG(st.st_mode)) {
		/* What was opened for appending is written at its end, wherever it stands. */
		at = (fcntl(to, F_GETFL) & O_APPEND) ? st.st_size : lseek(to, 0, SEEK_CUR);
		e.device = st.st_dev;
		e.inode = st.st_ino;
		e.position = at < 0 ? 0 : (uint64_t)at;
	}
	if (append(j, &e, err) < 0)
		return -1;
	j->unsynced_ns = 0;
	return tape_sync(j->writer, err) < 0 ? error_wrap(err, "the journal") : 0;
}

int journal_begin(
	struct journal *j, unsigned stream, const void *data, size_t len, struct error *err)
{
	struct tape_effect e = effect(j, stream, TAPE_EFFECT_BEGUN, data, len);

	return j->writer ? append(j, &e, err) : 0;
}

int journal_end(struct journal *j, unsigned stream, const void *data, size_t len, struct error *err)
{
	struct tape_effect e = effect(j, stream, TAPE_EFFECT_DONE, data, len);
	struct journal_done *d = &j->done[stream];

	if (!j->writer)
		return 0;
	d->sum = e.sum;
	d->bytes += len;
	journal_touch(j);
	return append(j, &e, err);
}

static const char *stream_name(unsigned stream)
{
	return stream == 1 ? "standard output" : "standard error";
}

static void part(struct journal *j, unsigned stream, const char *made)
{
	struct feed_divergence *d = &j->divergence;
	const struct journal_done *past = &j->past[stream];

	if (d->diverged)
		return;
	d->diverged = true;
	d->ordinal = past->ordinal;
	snprintf(d->name, sizeof(d->name), "DifferentRecord");
	snprintf(d->recorded, sizeof(d->recorded), "%llu bytes of %s went out",
		(unsigned long long)past->bytes, stream_name(stream));
	snprintf(d->made, sizeof(d->made), "%s", made);
}

size_t journal_drop(struct journal *j, unsigned stream, const void *data, size_t len)
{
	struct journal_done *done = &j->done[stream];
	const struct journal_done *past = &j->past[stream];
	size_t left = len, n;

	while (left && done->bytes < past->bytes) {
		uint64_t upto = done->bytes < past->sum_at ? past->sum_at : past->bytes;

		n = upto - done->bytes < left ? (size_t)(upto - done->bytes) : left;
		done->sum = crc32c(done->sum, (const char *)data + (len - left), n);
		done->bytes += n;
		left -= n;
		if (done->bytes == past->sum_at && done->sum != past->sum)
			part(j, stream, "it says something else there now");
	}
	return len - left;
}

void journal_check_end(struct journal *j)
{
	for (unsigned s = 1; s < JOURNAL_STREAMS; s++)
		if (j->done[s].bytes < j->past[s].bytes)
			part(j, s, "the run has ended before it said as much");
}

void journal_touch(struct journal *j)
{
	if (!j->unsynced_ns)
		j->unsynced_ns = clock_host_ns();
}

uint64_t journal_deadline_ns(const struct journal *j)
{
	return j->unsynced_ns ? j->unsynced_ns + group_ns : 0;
}

int journal_commit(struct journal *j, struct error *err)
{
	if (!j->writer || !j->unsynced_ns || clock_host_ns() < journal_deadline_ns(j))
		return 0;
	j->unsynced_ns = 0;
	return tape_sync(j->writer, err) < 0 ? error_wrap(err, "the journal") : 0;
}

static void take_effect(struct journal_past *p, const struct tape_effect *e, uint64_t ordinal)
{
	struct journal_done *d = &p->done[e->stream];

	if (e->request > p->request)
		p->request = e->request;
	switch ((enum tape_effect_state)e->state) {
	case TAPE_EFFECT_PLANNED:
		p->open[e->stream].is_planned = true;
		p->open[e->stream].has_begun = false;
		p->open[e->stream].at = e->offset;
		p->open[e->stream].planned = e->len;
		p->open[e->stream].device = e->device;
		p->open[e->stream].inode = e->inode;
		p->open[e->stream].position = e->position;
		break;
	case TAPE_EFFECT_BEGUN:
		p->open[e->stream].has_begun = true;
		p->open[e->stream].begun = e->len;
		break;
	case TAPE_EFFECT_DONE:
		p->open[e->stream].has_begun = false;
		*d = (struct journal_done){.bytes = e->offset + e->len,
			.sum = e->sum,
			.sum_at = e->offset + e->len,
			.ordinal = ordinal};
		break;
	}
}

/* Of a record of a connection: the question that it answers, or follows. */
static uint64_t net_request(const struct tape_record *record)
{
	struct tape_connect connect;
	struct tape_received received;
	struct tape_sent sent;

	if (tape_connect_decode(record, &connect) == 0)
		return connect.request;
	if (tape_received_decode(record, &received) == 0)
		return received.request;
	return tape_sent_decode(record, &sent) == 0 ? sent.request : 0;
}

void journal_past_take(struct journal_past *p, const struct tape_record *record)
{
	uint64_t request = net_request(record);
	struct tape_effect e;
	struct tape_input in;

	if (tape_effect_decode(record, &e) == 0)
		take_effect(p, &e, record->ordinal);
	if (tape_input_decode(record, &in) == 0) {
		p->input_bytes += in.len;
		request = in.request;
	}
	if (request > p->request)
		p->request = request;
}

/* The file that was written to is this stream again: how much of what was planned does it hold? */
static bool look_at_file(const struct journal_past *p, unsigned stream, uint64_t *ret)
{
	struct stat st;
	uint64_t size;

	if (!p->open[stream].is_planned || p->open[stream].inode == 0 ||
		p->done[stream].bytes >= p->open[stream].at + p->open[stream].planned ||
		fstat((int)stream, &st) < 0 || !S_ISREG(st.st_mode) ||
		st.st_ino != p->open[stream].inode || st.st_dev != p->open[stream].device)
		return false;
	size = (uint64_t)st.st_size < p->open[stream].position
		       ? 0
		       : (uint64_t)st.st_size - p->open[stream].position;
	*ret = p->open[stream].at +
	       (size < p->open[stream].planned ? size : p->open[stream].planned);
	return true;
}

void journal_past_resolve(struct journal_past *p)
{
	for (unsigned s = 1; s < JOURNAL_STREAMS; s++) {
		uint64_t bytes;

		if (look_at_file(p, s, &bytes)) {
			if (bytes > p->done[s].bytes)
				p->done[s].bytes = bytes;
		} else if (p->open[s].has_begun) {
			p->doubtful[s] = p->open[s].begun;
			p->done[s].bytes += p->open[s].begun;
		}
	}
}
