/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message queues: by type, by most urgent, but not of a type, too big, and what is refused.
 *
 *: long
 *: native
 *: rootless
 */
#include <sys/ipc.h>
#include <sys/msg.h>

#include "say.h"

struct message {
	long type;
	char text[16];
};

static int id;

static void send(long type, const char *text)
{
	struct message m = {.type = type};

	memcpy(m.text, text, strlen(text) + 1);
	if (msgsnd(id, &m, sizeof(m.text), 0))
		say("msgsnd", -1);
}

static void receive(long type, int flags)
{
	struct message m = {0};
	const ssize_t n = msgrcv(id, &m, sizeof(m.text), type, flags | IPC_NOWAIT);

	if (n < 0)
		say("msgrcv", -1);
	else
		printf("%ld: %s\n", m.type, m.text);
}

int main(void)
{
	struct message m = {.type = 0};

	id = msgget(IPC_PRIVATE, 0600);
	say("made", id < 0 ? -1 : 0);
	send(5, "five");
	send(2, "two");
	send(7, "seven");
	send(2, "two again");
	receive(7, 0);
	receive(-4, 0);
	receive(5, MSG_EXCEPT);
	receive(9, 0);
	say("copied", msgrcv(id, &m, sizeof(m.text), 0, MSG_COPY | IPC_NOWAIT));
	printf("copy: %s\n", m.text);
	receive(0, 0);
	receive(0, 0);
	say("type 0", msgsnd(id, &(struct message){0}, 1, 0));
	say("too long", msgsnd(id, &m, 100000, 0));
	send(1, "long enough");
	say("too short a buffer", msgrcv(id, &m, 4, 0, 0));
	say("cut", msgrcv(id, &m, 4, 0, MSG_NOERROR));
	struct msqid_ds ds;
	msgctl(id, IPC_STAT, &ds);
	printf("%lu messages, last sent by us %d, received %d\n", (unsigned long)ds.msg_qnum,
		ds.msg_lspid == getpid(), ds.msg_lrpid == getpid());
	say("removed", msgctl(id, IPC_RMID, NULL));
	say("gone", msgsnd(id, &m, 1, 0));
	return 0;
}
