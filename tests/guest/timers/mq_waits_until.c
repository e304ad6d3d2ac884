/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX message queues: time-outs of both ends, order by priority, and what is refused before.
 *
 *: long
 *: native
 *: rootless
 */
#include <fcntl.h>
#include <mqueue.h>

#include "say.h"

static struct timespec after(int64_t ns)
{
	return spec(now_ns(CLOCK_REALTIME) + ns);
}

int main(void)
{
	struct mq_attr attr = {.mq_maxmsg = 3, .mq_msgsize = 16};
	struct timespec limit;
	unsigned priority = 0;
	char text[16];
	mqd_t q;
	int64_t start;

	mq_unlink("/mq_waits_until");
	q = mq_open("/mq_waits_until", O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	say("open", q < 0 ? -1 : 0);
	limit = after(30 * MS);
	start = now_ns(CLOCK_MONOTONIC);
	say("empty", mq_timedreceive(q, text, sizeof(text), &priority, &limit));
	printf("in time: %s\n", now_ns(CLOCK_MONOTONIC) - start >= 29 * MS ? "yes" : "no");
	say("send", mq_send(q, "low", 4, 1));
	say("send", mq_send(q, "high", 5, 9));
	say("send", mq_send(q, "low too", 8, 1));
	limit = after(20 * MS);
	start = now_ns(CLOCK_MONOTONIC);
	say("full", mq_timedsend(q, "more", 5, 1, &limit));
	printf("in time: %s\n", now_ns(CLOCK_MONOTONIC) - start >= 19 * MS ? "yes" : "no");
	for (int i = 0; i < 3; i++) {
		mq_receive(q, text, sizeof(text), &priority);
		printf("%u %s\n", priority, text);
	}
	limit = (struct timespec){1, 0};
	say("long ago", mq_timedreceive(q, text, sizeof(text), NULL, &limit));
	limit.tv_nsec = -1;
	say("no time", mq_timedreceive(q, text, sizeof(text), NULL, &limit));
	say("too small", mq_receive(q, text, 8, NULL));
	say("too large", mq_send(q, "12345678901234567", 17, 0));
	say("too urgent", mq_send(q, "x", 1, 40000));
	attr.mq_flags = O_NONBLOCK;
	say("not blocking", mq_setattr(q, &attr, NULL));
	say("empty", mq_receive(q, text, sizeof(text), NULL));
	mq_getattr(q, &attr);
	printf("flags %s, of %ld messages of %ld: %ld\n",
		attr.mq_flags == O_NONBLOCK ? "kept" : "lost", attr.mq_maxmsg, attr.mq_msgsize,
		attr.mq_curmsgs);
	const mqd_t reader = mq_open("/mq_waits_until", O_RDONLY);
	say("send to a reader's", mq_send(reader, "x", 1, 0));
	say("unlink", mq_unlink("/mq_waits_until"));
	say("unlink again", mq_unlink("/mq_waits_until"));
	say("close", mq_close(q));
	say("closed", mq_send(q, "x", 1, 0));
	say("no queue", mq_send(0, "x", 1, 0));
	return 0;
}
