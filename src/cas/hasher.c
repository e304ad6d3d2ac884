/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 of a stream beside the work that makes it: see hasher.h.
 *
 * How it works. The slots are shared memory, used in turn. Over a socket pair the parent sends the
 * length of each slot that is full, and the child answers how many it has hashed, for several at
 * once (and 1 when it is ready); nearly as many as there are slots may be unanswered. Length 0 ends
 * the stream and is answered by the digest. Either side sees the other's death as an end of file.
 */
#include "cas/hasher.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum {
	SLOTS = 32,
	/* Slots that one answer is for: every answer wakes the parent. */
	BATCH = 4,
	/* Below this a child costs more than it gives. */
	ALONE_MAX = 4 << 20,
};

struct hasher {
	struct digest *digest;
	unsigned char *slots;
	unsigned current, outstanding;
	uint64_t size;
	int socket; /* -1: in place */
	pid_t child;
};

static void stop_child(struct hasher *h)
{
	fd_close(&h->socket);
	if (h->child > 0)
		while (waitpid(h->child, NULL, 0) < 0 && errno == EINTR)
			;
	h->child = 0;
}

void hasher_free(struct hasher *h)
{
	if (!h)
		return;
	stop_child(h);
	if (h->slots)
		munmap(h->slots, (size_t)SLOTS * HASHER_SLOT);
	digest_free(h->digest);
	free(h);
}

int hasher_new(struct hasher **ret, struct error *err)
{
	void *slots = mmap(NULL, (size_t)SLOTS * HASHER_SLOT, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hasher *h;

	if (slots == MAP_FAILED)
		return error_sys(err, "map memory");
	h = mem_alloc(sizeof(*h));
	h->digest = digest_new();
	h->slots = slots;
	h->socket = -1;
	*ret = h;
	return 0;
}

unsigned char *hasher_slot(struct hasher *h)
{
	return h->slots + (size_t)h->current * HASHER_SLOT;
}

/* The child: its whole life. */
static NORETURN void hash_all(struct hasher *h, int socket)
{
	char text[DIGEST_TEXT];
	sigset_t all;
	unsigned hashed = 0;
	uint32_t len;

	/* A ^C is for the parent; the child goes when the socket closes. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* It shall hold no lock and no pipe of its parent's open. */
	if (dup2(socket, 3) != 3 || close_range(4, ~0u, 0) < 0 ||
		send(3, &(char){1}, 1, MSG_NOSIGNAL) != 1)
		_exit(1);
	for (unsigned at = h->current; recv(3, &len, sizeof(len), 0) == sizeof(len);
		at = (at + 1) % SLOTS) {
		if (len == 0) {
			digest_text(h->digest, text);
			_exit(send(3, text, sizeof(text), MSG_NOSIGNAL) != sizeof(text));
		}
		digest_update(h->digest, h->slots + (size_t)at * HASHER_SLOT, len);
		if (++hashed % BATCH == 0 && send(3, &(char){BATCH}, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(1);
}

static int died(struct error *err)
{
	return error_set(err, ERR_DIED, "the process that hashes was killed");
}

static int await(struct hasher *h, struct error *err)
{
	char byte;
	ssize_t n;

	do
		n = recv(h->socket, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return died(err);
	h->outstanding -= (unsigned)byte;
	return 0;
}

static int start_child(struct hasher *h, struct error *err)
{
	int pair[2];
	cpu_set_t cpus;

	h->child = -1; /* tried once */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || CPU_COUNT(&cpus) < 2 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 0;
	h->child = fork();
	if (h->child == 0)
		hash_all(h, pair[1]);
	close(pair[1]);
	if (h->child < 0) {
		close(pair[0]);
		return 0;
	}
	h->socket = pair[0];
	/* Once it has let go of what it inherited, our death frees our locks at once. */
	h->outstanding = 1;
	return await(h, err);
}

static int tell(struct hasher *h, uint32_t len, struct error *err)
{
	ssize_t n;

	do
		n = send(h->socket, &len, sizeof(len), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(len) ? 0 : died(err);
}

int hasher_pass(struct hasher *h, size_t len, struct error *err)
{
	if (len == 0)
		return 0;
	if (h->socket < 0 && h->child == 0 && h->size >= ALONE_MAX && start_child(h, err) < 0)
		return -1;
	h->size += len;
	if (h->socket < 0) {
		digest_update(h->digest, hasher_slot(h), len);
	} else {
		if (tell(h, (uint32_t)len, err) < 0)
			return -1;
		h->outstanding++;
		/* One slot stays free for the parent's next bytes, one for its last. */
		while (h->outstanding > SLOTS - 2)
			if (await(h, err) < 0)
				return -1;
	}
	h->current = (h->current + 1) % SLOTS;
	return 0;
}

int hasher_finish(struct hasher *h, char ret[DIGEST_TEXT], struct error *err)
{
	ssize_t n;

	if (h->socket < 0) {
		digest_text(h->digest, ret);
		return 0;
	}
	if (tell(h, 0, err) < 0)
		return -1;
	/* Answers for slots may come before it. */
	do
		n = recv(h->socket, ret, DIGEST_TEXT, 0);
	while (n == 1 || (n < 0 && errno == EINTR));
	if (n != DIGEST_TEXT)
		return died(err);
	stop_child(h);
	return 0;
}
