/* SPDX-License-Identifier: Apache-2.0
 * A static program of musl: threads, condition variables, clocks, a timer, a child, sockets.
 *: varies
 *: long
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose;

static void now(const char *what)
{
	struct timespec t, m;

	clock_gettime(CLOCK_REALTIME, &t);
	clock_gettime(CLOCK_MONOTONIC, &m);
	printf("%s %lld.%09ld %lld.%09ld\n", what, (long long)t.tv_sec, t.tv_nsec,
		(long long)m.tv_sec, m.tv_nsec);
}

static void *take_turns(void *arg)
{
	int n = (int)(long)arg;

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		while (whose % 4 != n)
			pthread_cond_wait(&turn, &lock);
		usleep(1000);
		now("turn");
		whose++;
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *answer(void *arg)
{
	int listener = *(int *)arg;
	char byte;

	for (int i = 0; i < 3; i++) {
		int fd = accept(listener, NULL, NULL);

		if (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
			close(fd);
	}
	return NULL;
}

int main(void)
{
	extern char **environ;
	pthread_t threads[4], server;
	unsigned long long draw = 0;
	struct timespec limit;
	pid_t pid;
	int status;

	setvbuf(stdout, NULL, _IONBF, 0);
	now("start");
	getrandom(&draw, sizeof(draw), 0);
	printf("%llx %d %p\n", draw, (int)getpid(), (void *)&status);
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 3600;
	pthread_mutex_lock(&lock);
	status = pthread_cond_timedwait(&turn, &lock, &limit);
	pthread_mutex_unlock(&lock);
	printf("waited: %d\n", status);
	now("an hour later");

	char *argv[] = {"sh", "-c", "echo $$; sleep 2; exit 7", NULL};
	status = posix_spawnp(&pid, "sh", NULL, NULL, argv, environ);
	if (status == 0)
		waitpid(pid, &status, 0);
	printf("child %d: %d\n", (int)pid, WEXITSTATUS(status));

	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	bind(listener, (struct sockaddr *)&address, sizeof(address));
	listen(listener, 5);
	getsockname(listener, (struct sockaddr *)&address, &length);
	pthread_create(&server, NULL, answer, &listener);
	for (int i = 0; i < 3; i++) {
		struct sockaddr_in own;
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		char byte = (char)('a' + i);

		length = sizeof(own);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
			write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			return 1;
		getsockname(fd, (struct sockaddr *)&own, &length);
		printf("%c %d to %d\n", byte, ntohs(own.sin_port), ntohs(address.sin_port));
		close(fd);
	}
	pthread_join(server, NULL);

	sigset_t alarms;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarms, NULL);
	alarm(100);
	sigwait(&alarms, &status);
	now("alarm");
	return 0;
}
