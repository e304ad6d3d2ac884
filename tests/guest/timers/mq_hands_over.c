/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX message queues between processes: receivers in turn, a sender at a full one, poll and a
 *signal.
 *
 *: native
 */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/wait.h>

#include "say.h"

static mqd_t q;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

static pid_t receiver(int number)
{
	char text[16];

	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		const ssize_t n = mq_receive(q, text, sizeof(text), NULL);

		if (n < 0)
			say("receiver", -1);
		else
			printf("receiver %d: %s\n", number, text);
		fflush(stdout);
		_exit(0);
	}
	pause_ms(100);
	return child;
}

int main(void)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 16};
	struct timespec past = {1, 0};
	char text[16];

	handle(SIGUSR1, on_signal, 0);
	mq_unlink("/mq_hands_over");
	q = mq_open("/mq_hands_over", O_RDWR | O_CREAT, 0600, &attr);
	receiver(1);
	receiver(2);
	say("send", mq_send(q, "first", 6, 0));
	/* It was handed over, and is not there for us. */
	say("take it back", mq_timedreceive(q, text, sizeof(text), NULL, &past));
	wait(NULL);
	say("send", mq_send(q, "second", 7, 0));
	wait(NULL);
	kill(receiver(3), SIGUSR1);
	wait(NULL);
	say("fill", mq_send(q, "full", 5, 0));
	fflush(stdout);
	if (fork() == 0) {
		say("sender", mq_send(q, "waited", 7, 0));
		fflush(stdout);
		_exit(0);
	}
	pause_ms(100);
	say("receive", mq_receive(q, text, sizeof(text), NULL));
	wait(NULL);
	struct pollfd p = {(int)q, POLLIN | POLLOUT, 0};
	poll(&p, 1, 0);
	printf("full: %s%s\n", p.revents & POLLIN ? "in " : "", p.revents & POLLOUT ? "out" : "");
	say("receive", mq_receive(q, text, sizeof(text), NULL));
	if (fork() == 0) {
		pause_ms(100);
		mq_send(q, "polled", 7, 0);
		_exit(0);
	}
	p.events = POLLIN;
	say("poll", poll(&p, 1, 10000));
	wait(NULL);
	mq_unlink("/mq_hands_over");
	return 0;
}
