/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUTEX_CMP_REQUEUE_PI takes waiters of FUTEX_WAIT_REQUEUE_PI to the lock they named: a free lock
 * is given to the first at once, the others wait for it; its refusals; a signal after the move.
 *: native
 *: long
 *: out lock free: moved 3, first 0 has it
 *: out in turn: 0 1 2
 *: out lock held: moved 2
 *: out in turn: 0 1
 *: out wakes 2: -1 22, same word: -1 22, changed: -1 11, negative: -1 22
 *: out other lock named: -1 22, plain waiter: -1 22, nobody: 0
 *: out timed out: -1 110
 *: out handler after the move: -1 11
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t cond, lock, other;
static int order[3], count, names[3] = {0, 1, 2};

static long lock_op(int op)
{
	return syscall(SYS_futex, &lock, op | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

static void *waiter(void *arg)
{
	if (syscall(SYS_futex, &cond, FUTEX_WAIT_REQUEUE_PI | FUTEX_PRIVATE_FLAG, cond, NULL, &lock,
		    0) == 0)
		order[count++] = *(int *)arg;
	usleep(20000);
	lock_op(FUTEX_UNLOCK_PI);
	return NULL;
}

static void *plain(void *unused)
{
	syscall(SYS_futex, &cond, FUTEX_WAIT_PRIVATE, cond, NULL, NULL, 0);
	return unused;
}

static void on_signal(int sig)
{
	(void)sig;
}

static void *interrupted(void *unused)
{
	long r = syscall(
		SYS_futex, &cond, FUTEX_WAIT_REQUEUE_PI | FUTEX_PRIVATE_FLAG, cond, NULL, &lock, 0);

	printf("handler after the move: %ld %d\n", r, errno);
	return unused;
}

static long requeue(int wakes, long moves, uint32_t *target, uint32_t expected)
{
	return syscall(SYS_futex, &cond, FUTEX_CMP_REQUEUE_PI | FUTEX_PRIVATE_FLAG, wakes, moves,
		target, expected);
}

static void start(pthread_t *threads, int n)
{
	count = 0;
	for (int i = 0; i < n; i++) {
		pthread_create(&threads[i], NULL, waiter, &names[i]);
		usleep(20000);
	}
}

static void refused(const char *what, long r, const char *end)
{
	if (r < 0)
		printf("%s: %ld %d%s", what, r, errno, end);
	else
		printf("%s: %ld%s", what, r, end);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct timespec past = {0, 1};
	pthread_t threads[3];
	long r;

	start(threads, 3);
	r = requeue(1, 5, &lock, 0);
	usleep(5000);
	printf("lock free: moved %ld, first %d has it\n", r, order[0]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("in turn: %d %d %d\n", order[0], order[1], order[2]);
	lock = 0;
	lock_op(FUTEX_LOCK_PI);
	start(threads, 2);
	printf("lock held: moved %ld\n", requeue(1, 5, &lock, 0));
	lock_op(FUTEX_UNLOCK_PI);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("in turn: %d %d\n", order[0], order[1]);
	refused("wakes 2", requeue(2, 1, &lock, 0), ", ");
	refused("same word", requeue(1, 1, &cond, 0), ", ");
	refused("changed", requeue(1, 1, &lock, 7), ", ");
	refused("negative", requeue(1, -1, &lock, 0), "\n");
	lock = 0;
	start(threads, 1);
	refused("other lock named", requeue(1, 1, &other, 0), ", ");
	requeue(1, 1, &lock, 0);
	pthread_join(threads[0], NULL);
	pthread_create(&threads[0], NULL, plain, NULL);
	usleep(20000);
	refused("plain waiter", requeue(1, 1, &lock, 0), ", ");
	syscall(SYS_futex, &cond, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(threads[0], NULL);
	refused("nobody", requeue(1, 1, &lock, 0), "\n");
	refused("timed out",
		syscall(SYS_futex, &cond, FUTEX_WAIT_REQUEUE_PI | FUTEX_PRIVATE_FLAG, 0, &past,
			&lock, 0),
		"\n");
	sigaction(SIGUSR1, &action, NULL);
	lock = 0;
	lock_op(FUTEX_LOCK_PI);
	pthread_create(&threads[0], NULL, interrupted, NULL);
	usleep(20000);
	requeue(1, 1, &lock, 0);
	pthread_kill(threads[0], SIGUSR1);
	pthread_join(threads[0], NULL);
	return 0;
}
