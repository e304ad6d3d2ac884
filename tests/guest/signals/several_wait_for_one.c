/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three threads wait for the same signal of their process, by sigwait, sigsuspend, ppoll or read:
 * each one that is sent ends the wait of one.
 *: native
 *: rootless
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int ended, fds[2];
static sigset_t usr1, others;

static void nothing(int sig)
{
	(void)sig;
}

static void by_sigwait(void)
{
	int sig;

	sigwait(&usr1, &sig);
}

static void by_sigsuspend(void)
{
	sigsuspend(&others);
}

static void by_ppoll(void)
{
	ppoll(NULL, 0, NULL, &others);
}

static void by_read(void)
{
	char byte;

	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	if (read(fds[0], &byte, 1) >= 0)
		puts("read something");
}

static void *waits(void *how)
{
	void (*wait_for_it)(void) = *(void (**)(void))how;

	pthread_barrier_wait(&barrier);
	wait_for_it();
	pthread_mutex_lock(&lock);
	ended++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int count(void)
{
	int n;

	usleep(20000);
	pthread_mutex_lock(&lock);
	n = ended;
	pthread_mutex_unlock(&lock);
	return n;
}

static void try(const char *what, void (*how)(void))
{
	pthread_t threads[THREADS];

	ended = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, waits, (void *)&how);
	pthread_barrier_wait(&barrier);
	printf("%s: %d", what, count());
	for (int i = 0; i < THREADS; i++) {
		kill(getpid(), SIGUSR1);
		printf(" %d", count());
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("\n");
	fflush(stdout);
}

int main(void)
{
	struct sigaction action = {.sa_handler = nothing};

	if (pipe(fds) < 0)
		return 1;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigfillset(&others);
	sigdelset(&others, SIGUSR1);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	try("sigwait", by_sigwait);
	try("sigsuspend", by_sigsuspend);
	try("ppoll", by_ppoll);
	try("read", by_read);
	return 0;
}
