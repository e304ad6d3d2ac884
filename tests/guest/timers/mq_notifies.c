/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mq_notify: once, by a signal that names the sender, to one process at a time, and by a thread.
 *
 *: long
 *: native
 */
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/wait.h>

#include "say.h"

static siginfo_t last;
static volatile sig_atomic_t count;
static sem_t ran;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	last = *info;
	count = count + 1;
}

static void run(union sigval value)
{
	printf("thread with %d\n", value.sival_int);
	sem_post(&ran);
}

int main(void)
{
	struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = 16};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
		.sigev_value = {.sival_int = 42}};
	char text[16];
	mqd_t q;

	handle(SIGUSR1, on_signal, 0);
	sem_init(&ran, 0, 0);
	mq_unlink("/mq_notifies");
	q = mq_open("/mq_notifies", O_RDWR | O_CREAT, 0600, &attr);
	say("notify", mq_notify(q, &event));
	const pid_t child = fork();
	if (child == 0) {
		if (mq_notify(q, &event) == 0 || errno != EBUSY)
			puts("the child could register too");
		mq_send(q, "one", 4, 0);
		mq_send(q, "two", 4, 0);
		for (;;) /* nothing else may wake the parent */
			pause();
	}
	await(&count, 1);
	/* The second is sent after what woke us. */
	while (mq_getattr(q, &attr) == 0 && attr.mq_curmsgs < 2)
		usleep(1000);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0)
		;
	printf("%d: %s value %d from the child: %s\n", (int)count, code_name(&last),
		last.si_value.sival_int, last.si_pid == child ? "yes" : "no");
	mq_receive(q, text, sizeof(text), NULL);
	mq_receive(q, text, sizeof(text), NULL);
	mq_send(q, "three", 6, 0);
	printf("only once: %d\n", (int)count);
	mq_receive(q, text, sizeof(text), NULL);
	event = (struct sigevent){.sigev_notify = SIGEV_THREAD,
		.sigev_notify_function = run,
		.sigev_value = {.sival_int = 43}};
	say("by a thread", mq_notify(q, &event));
	mq_send(q, "four", 5, 0);
	while (sem_wait(&ran))
		;
	say("none is registered", mq_notify(q, NULL));
	mq_unlink("/mq_notifies");
	return 0;
}
