/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations meet: private and shared ones on private memory do not; on shared memory the
 * object counts, wherever it is mapped.
 *: native
 *: out private wake of a shared wait: 0, shared: 1
 *: out another mapping of the object: 1
 *: out another offset: 0, private wake: 0, the same: 1
 *: out a child at another address: 1
 *: out unmapped, private: 0, shared: -1 14
 *: out odd: -1 22
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long futex(const void *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void *waiter(void *word)
{
	futex(word, FUTEX_WAIT, 0);
	return NULL;
}

static pthread_t wait_at(void *word)
{
	pthread_t thread;

	pthread_create(&thread, NULL, waiter, word);
	usleep(20000);
	return thread;
}

int main(void)
{
	static uint32_t word;
	int fd = memfd_create("words", 0);
	pthread_t thread = wait_at(&word);
	long wrong, off, private_one;
	uint32_t *one, *two;
	pid_t child;

	wrong = futex(&word, FUTEX_WAKE_PRIVATE, 1);
	printf("private wake of a shared wait: %ld, shared: %ld\n", wrong,
		futex(&word, FUTEX_WAKE, 1));
	pthread_join(thread, NULL);
	if (ftruncate(fd, 8192) < 0)
		return 1;
	one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	thread = wait_at(&one[1]);
	printf("another mapping of the object: %ld\n", futex(&two[1], FUTEX_WAKE, 1));
	pthread_join(thread, NULL);
	thread = wait_at(&one[1]);
	off = futex(&two[1025], FUTEX_WAKE, 1);
	private_one = futex(&one[1], FUTEX_WAKE_PRIVATE, 1);
	printf("another offset: %ld, private wake: %ld, the same: %ld\n", off, private_one,
		futex(&one[1], FUTEX_WAKE, 1));
	pthread_join(thread, NULL);
	thread = wait_at(&one[1025]);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		uint32_t *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);

		printf("a child at another address: %ld\n", futex(&page[1], FUTEX_WAKE, 1));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	pthread_join(thread, NULL);
	wrong = futex((void *)16, FUTEX_WAKE_PRIVATE, 1);
	off = futex((void *)16, FUTEX_WAKE, 1);
	printf("unmapped, private: %ld, shared: %ld %d\n", wrong, off, errno);
	off = futex((char *)&word + 1, FUTEX_WAKE_PRIVATE, 1);
	printf("odd: %ld %d\n", off, errno);
	return 0;
}
