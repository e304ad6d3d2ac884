/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of decisions of a run: see decisions.h. */
#include "run/decisions.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/temp.h"

void decisions_init(struct decisions *d)
{
	*d = (struct decisions){.digest = digest_new(), .keep = -1};
}

void decisions_finish(struct decisions *d)
{
	digest_free(d->digest);
	fd_close(&d->keep);
	*d = (struct decisions){.keep = -1};
}

int decisions_keep(struct decisions *d, struct error *err)
{
	return temp_open(&d->keep, err);
}

/* Bytes of the reference at an offset; short only at its end. */
static int read_reference(const struct decisions *ref, uint64_t at, unsigned char *buf, size_t len,
	size_t *ret_len, struct error *err)
{
	size_t got = 0;

	if (at + len > ref->kept)
		len = at < ref->kept ? (size_t)(ref->kept - at) : 0;
	while (got < len) {
		ssize_t n = pread(ref->keep, buf + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the decisions of the first run");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*ret_len = got;
	return 0;
}

static void set_difference(struct decisions *d, uint64_t ordinal, const unsigned char *first,
	const unsigned char *second)
{
	d->differs = true;
	d->difference = (struct decisions_difference){
		.ordinal = ordinal, .has_first = first != NULL, .has_second = second != NULL};
	if (first)
		decision_decode(first, &d->difference.first);
	if (second)
		decision_decode(second, &d->difference.second);
}

/* `data` is what the second run sends as its records from ordinal d->count + 1 on. */
static int compare(struct decisions *d, const unsigned char *data, size_t len, struct error *err)
{
	enum { CHUNK = DECISION_SIZE * 1024 };
	const struct decisions *ref = d->reference;
	autofree unsigned char *buf = mem_alloc(CHUNK);
	uint64_t at = d->count * DECISION_SIZE;

	for (size_t done = 0; done < len && !d->differs;) {
		size_t part = len - done < CHUNK ? len - done : CHUNK, got;

		if (read_reference(ref, at + done, buf, part, &got, err) < 0)
			return -1;
		for (size_t i = 0; i < got && !d->differs; i += DECISION_SIZE)
			if (memcmp(buf + i, data + done + i, DECISION_SIZE) != 0)
				set_difference(d, (at + done + i) / DECISION_SIZE + 1, buf + i,
					data + done + i);
		if (got < part && !d->differs) {
			/* Either the first run ended here, or it was kept no further. */
			if (ref->kept == ref->count * DECISION_SIZE)
				set_difference(d, (at + done + got) / DECISION_SIZE + 1, NULL,
					data + done + got);
			return 0;
		}
		done += part;
	}
	return 0;
}

int decisions_add(struct decisions *d, struct bytes_reader *r, struct error *err)
{
	size_t len = (size_t)(r->end - r->pos);
	const unsigned char *data = r->pos;

	if (len % DECISION_SIZE)
		return error_set(err, ERR_FORMAT, "decisions frame of %zu bytes", len);
	digest_update(d->digest, data, len);
	if (d->reference && !d->differs && compare(d, data, len, err) < 0)
		return -1;
	if (d->keep >= 0 && d->kept == d->count * DECISION_SIZE &&
		d->kept + len <= DECISIONS_KEEP_MAX) {
		/* A full disk ends what is kept; the hash goes on. */
		if (fd_write_all(d->keep, data, len, NULL) == 0)
			d->kept += len;
	}
	d->count += len / DECISION_SIZE;
	r->pos = r->end;
	return 0;
}

int decisions_compare(
	const struct decisions *second, struct decisions_difference *ret, struct error *err)
{
	const struct decisions *first = second->reference;
	char a[DIGEST_TEXT], b[DIGEST_TEXT];
	unsigned char record[DECISION_SIZE];
	size_t got;

	*ret = second->difference;
	if (second->differs)
		return 1;
	if (first->count > second->count && first->kept > second->count * DECISION_SIZE) {
		if (read_reference(first, second->count * DECISION_SIZE, record, DECISION_SIZE,
			    &got, err) < 0)
			return -1;
		*ret = (struct decisions_difference){
			.ordinal = second->count + 1, .has_first = true};
		decision_decode(record, &ret->first);
		return 1;
	}
	digest_text(first->digest, a);
	digest_text(second->digest, b);
	return first->count != second->count || strcmp(a, b) != 0;
}
