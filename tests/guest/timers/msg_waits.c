/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message queues that are empty or full: who waits is served in turn, told of a signal and of
 *removal.
 *
 *: native
 */
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>

#include "say.h"

struct message {
	long type;
	char text[1024];
};

static int id;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

static void child_receives(long type)
{
	struct message m;
	const ssize_t n = msgrcv(id, &m, sizeof(m.text), type, 0);

	if (n < 0)
		say("receiver", -1);
	else
		printf("receiver of %ld got %s\n", type, m.text);
	fflush(stdout);
	_exit(0);
}

static pid_t start_receiver(long type)
{
	fflush(stdout);
	const pid_t child = fork();

	if (child == 0)
		child_receives(type);
	pause_ms(100);
	return child;
}

int main(void)
{
	struct message m = {.type = 3};
	int sent = 0;

	handle(SIGUSR1, on_signal, SA_RESTART);
	id = msgget(IPC_PRIVATE, 0600);
	start_receiver(3);
	start_receiver(4);
	m.type = 4;
	memcpy(m.text, "four", 5);
	say("send 4", msgsnd(id, &m, 8, 0));
	/* It was handed over, and is not there for us. */
	say("take it back", msgrcv(id, &m, 8, 4, IPC_NOWAIT));
	wait(NULL);
	m.type = 3;
	memcpy(m.text, "three", 6);
	say("send 3", msgsnd(id, &m, 8, 0));
	wait(NULL);
	kill(start_receiver(9), SIGUSR1);
	wait(NULL);
	while (msgsnd(id, &m, sizeof(m.text), IPC_NOWAIT) == 0)
		sent++;
	printf("full after %d: %s\n", sent, strerrorname_np(errno));
	fflush(stdout);
	if (fork() == 0) {
		say("sender", msgsnd(id, &m, sizeof(m.text), 0));
		fflush(stdout);
		_exit(0);
	}
	pause_ms(100);
	say("receive", msgrcv(id, &m, sizeof(m.text), 0, 0));
	wait(NULL);
	start_receiver(9);
	msgctl(id, IPC_RMID, NULL);
	wait(NULL);
	return 0;
}
