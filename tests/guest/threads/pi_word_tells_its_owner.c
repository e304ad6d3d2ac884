/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word of a PI futex step by step: who owns it, whether somebody waits, and what is refused.
 *: native
 *: out free: 0, word main
 *: out again: -1 35, unlock 0, word 0
 *: out held by nobody known: -1 3
 *: out not mine: -1 1
 *: out trylock of another's: -1 11, word main waiters
 *: out waited for: word main waiters
 *: out handed over: 0, word other waiters
 *: out wake at a lock: -1 22
 *: out clock on lock_pi: -1 38, lock_pi2 timed out: -1 110
 *: out unmapped -1 14, odd -1 22
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word, gate;
static pid_t main_tid, other_tid;

static long futex(void *addr, int op, uint32_t value, const struct timespec *limit)
{
	return syscall(SYS_futex, addr, op | FUTEX_PRIVATE_FLAG, value, limit, NULL, 0);
}

static void show(const char *end)
{
	uint32_t tid = word & FUTEX_TID_MASK;

	printf("word %s%s%s%s",
		!word			     ? "0"
		: tid == (uint32_t)main_tid  ? "main"
		: tid == (uint32_t)other_tid ? "other"
					     : "?",
		word & FUTEX_WAITERS ? " waiters" : "", word & FUTEX_OWNER_DIED ? " died" : "",
		end);
}

static void *trier(void *unused)
{
	long r = futex(&word, FUTEX_TRYLOCK_PI, 0, NULL);

	printf("trylock of another's: %ld %d, ", r, errno);
	show("\n");
	return unused;
}

static void *locker(void *unused)
{
	long r;

	other_tid = (pid_t)syscall(SYS_gettid);
	r = futex(&word, FUTEX_LOCK_PI, 0, NULL);
	printf("handed over: %ld, ", r);
	show("\n");
	futex(&gate, FUTEX_WAIT, 0, NULL);
	futex(&word, FUTEX_UNLOCK_PI, 0, NULL);
	return unused;
}

static void *waiter(void *unused)
{
	futex(&word, FUTEX_LOCK_PI, 0, NULL);
	futex(&word, FUTEX_UNLOCK_PI, 0, NULL);
	return unused;
}

int main(void)
{
	struct timespec past = {0, 1};
	pthread_t thread, second;
	long r;

	main_tid = getpid();
	r = futex(&word, FUTEX_LOCK_PI, 0, NULL);
	printf("free: %ld, ", r);
	show("\n");
	r = futex(&word, FUTEX_LOCK_PI, 0, NULL);
	printf("again: %ld %d, ", r, errno);
	printf("unlock %ld, ", futex(&word, FUTEX_UNLOCK_PI, 0, NULL));
	show("\n");
	word = 0x3ffffff0;
	r = futex(&word, FUTEX_LOCK_PI, 0, NULL);
	printf("held by nobody known: %ld %d\n", r, errno);
	r = futex(&word, FUTEX_UNLOCK_PI, 0, NULL);
	printf("not mine: %ld %d\n", r, errno);
	word = (uint32_t)main_tid;
	pthread_create(&thread, NULL, trier, NULL);
	pthread_join(thread, NULL);
	word = (uint32_t)main_tid;
	pthread_create(&thread, NULL, locker, NULL);
	usleep(20000);
	printf("waited for: ");
	show("\n");
	futex(&word, FUTEX_UNLOCK_PI, 0, NULL);
	usleep(20000);
	pthread_create(&second, NULL, waiter, NULL);
	usleep(20000);
	r = futex(&word, FUTEX_WAKE, 1, NULL);
	printf("wake at a lock: %ld %d\n", r, errno);
	r = futex(&word, FUTEX_LOCK_PI | FUTEX_CLOCK_REALTIME, 0, &past);
	printf("clock on lock_pi: %ld %d, ", r, errno);
	r = futex(&word, FUTEX_LOCK_PI2, 0, &past);
	printf("lock_pi2 timed out: %ld %d\n", r, errno);
	gate = 1;
	futex(&gate, FUTEX_WAKE, 1, NULL);
	pthread_join(thread, NULL);
	pthread_join(second, NULL);
	r = futex((void *)16, FUTEX_LOCK_PI, 0, NULL);
	printf("unmapped %ld %d, ", r, errno);
	r = futex((char *)&word + 1, FUTEX_LOCK_PI, 0, NULL);
	printf("odd %ld %d\n", r, errno);
	return 0;
}
