/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of input of a tape whose checksums are right, replayed: the first byte says how questions
 * are asked, the rest is cut into payloads by a length each. With its highest bit each payload has
 * a byte for its kind before it, and the guest connects and sends.
 */
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "run/feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITH_NETWORK = 0x80, KINDS = 6 };

static int make_tape(int fd, bool has_kinds, const uint8_t *data, size_t size)
{
	auto_tape_writer struct tape_writer *w = NULL;
	struct error err;
	uint64_t now = 0;

	if (tape_create_fd(fd, "{}", 2, &w, &err) < 0)
		return -1;
	while (size > 0) {
		size_t len = data[0] < size - 1 ? data[0] : size - 1;
		size_t skipped = has_kinds && len > 0;
		struct tape_part parts[2] = {{data + 1 + skipped, len - skipped}, {"", 0}};
		enum tape_kind kind = skipped ? (enum tape_kind)(data[1] % KINDS + 1) : TAPE_INPUT;

		if (tape_append(w, kind, data[0] & 3, now += data[0], parts, &err) < 0)
			return -1;
		data += 1 + len;
		size -= 1 + len;
	}
	return tape_end(w, &err);
}

/* What a guest does between two questions: streams 1 to 3 lead to one address. */
static int act(struct feed *f, uint64_t request, struct error *err)
{
	const struct endpoint to = {.family = 4, .port = 80, .ip = {127, 0, 0, 1}};
	struct feed_sent sent = {.stream = (uint32_t)request & 3,
		.now_ns = request * 10,
		.data = (const unsigned char *)"x",
		.len = 1};

	if (request < 4 && feed_connect(f, (uint32_t)request, request == 3, &to, err) < 0)
		return -1;
	return sent.stream == 2 ? feed_sent(f, &sent, err) : 0;
}

/* Questions until the replay has diverged, or the input has ended. */
static void ask(struct feed *f, uint8_t how)
{
	for (uint64_t request = 1; request < 64; request++) {
		struct feed_ask a = {.request = request,
			.now_ns = request * 10,
			.due_ns = how & 1 ? request * 10 + how : UINT64_MAX,
			.task = how >> 1 & 3};
		struct feed_answer answer;
		struct error err;

		if ((how & WITH_NETWORK) && act(f, request, &err) < 0)
			break;
		if (feed_put_ask(f, &a, &err) < 0 || feed_step(f, &answer, &err) <= 0)
			break;
		if (answer.request != request || answer.now_ns < a.now_ns ||
			answer.now_ns >= a.due_ns)
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_feed struct feed f;
	auto_tape_reader struct tape_reader *r = NULL;
	int ends[2] = {-1, -1}, fd = memfd_create("tape", MFD_CLOEXEC),
	    again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	autoclose int out = -1;
	struct error err;

	feed_init(&f);
	if (size == 0 || fd < 0 || make_tape(fd, data[0] & WITH_NETWORK, data + 1, size - 1) < 0 ||
		tape_open_fd(again, &r, &err) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	out = ends[0];
	f.reader = r;
	f.outside.network = data[0] & WITH_NETWORK ? "host" : NULL;
	if (feed_start(&f, -1, ends[1], &err) == 0) {
		ask(&f, data[0]);
		if (feed_end(&f, &err) < 0)
			return 0;
	}
	return 0;
}
