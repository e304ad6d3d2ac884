/* SPDX-License-Identifier: Apache-2.0 */
/* poll, select and epoll: time-outs, what is left of them, masks, edges, order, signals. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec start;

static void must(int r, const char *what)
{
	if (r < 0) {
		printf("%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void say(const char *what, long result)
{
	const int error = errno;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s: %ld%s%s at %.3f\n", what, result, result < 0 ? " " : "",
		result < 0 ? strerror(error) : "",
		(double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9);
}

static void polls(void)
{
	int ends[2];
	char c = 'x';

	must(pipe(ends), "pipe");
	struct pollfd p[3] = {{ends[0], POLLIN, 0}, {-1, POLLIN, 7}, {ends[1], POLLOUT, 0}};
	say("poll out", poll(p, 3, 5000));
	printf("  %d %d %d\n", p[0].revents, p[1].revents, p[2].revents);
	say("poll in, 1.5 s", poll(p, 1, 1500));
	say("poll 0", poll(p, 1, 0));
	if (fork() == 0) {
		sleep(3);
		_exit(write(ends[1], &c, 1) == 1 ? 0 : 1);
	}
	say("poll until written", poll(p, 1, 10000));
	must((int)read(ends[0], &c, 1), "read");
	wait(NULL);
	close(ends[1]);
	say("poll hang-up", poll(p, 1, -1));
	printf("  %d\n", p[0].revents);
	close(ends[0]);
	say("poll closed", poll(p, 1, -1));
	printf("  %d\n", p[0].revents);
	say("poll nothing", poll(NULL, 0, 250));
}

static void selects(void)
{
	int ends[2];
	fd_set in, out;
	struct timeval tv = {2, 500000};

	must(pipe(ends), "pipe");
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(ends[0], &in);
	say("select", select(ends[1] + 1, &in, NULL, NULL, &tv));
	printf("  set %d left %ld.%06ld\n", FD_ISSET(ends[0], &in) != 0, (long)tv.tv_sec,
		(long)tv.tv_usec);
	tv.tv_sec = 9;
	FD_SET(ends[0], &in);
	if (fork() == 0) {
		usleep(1250000);
		_exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
	}
	FD_SET(ends[1], &out);
	say("select either", select(ends[1] + 1, &in, &out, NULL, NULL));
	printf("  in %d out %d\n", FD_ISSET(ends[0], &in) != 0, FD_ISSET(ends[1], &out) != 0);
	FD_SET(ends[0], &in);
	say("select in", select(ends[1] + 1, &in, NULL, NULL, &tv));
	printf("  set %d left %ld.%06ld\n", FD_ISSET(ends[0], &in) != 0, (long)tv.tv_sec,
		(long)tv.tv_usec);
	wait(NULL);
	close(ends[0]);
	close(ends[1]);
	say("select closed", select(ends[1] + 1, &in, NULL, NULL, &tv));
	say("select sleep", select(0, NULL, NULL, NULL, &(struct timeval){1, 0}));
}

static void on_signal(int sig)
{
	printf("  handler %d\n", sig);
}

/* The classic: SIGCHLD blocked but inside ppoll and pselect. */
static void masks(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigset_t block, before, now;
	struct timespec ts = {60, 0};

	sigaction(SIGCHLD, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &before);
	if (fork() == 0) {
		sleep(2);
		_exit(0);
	}
	say("ppoll", ppoll(NULL, 0, &ts, &before));
	wait(NULL);
	if (fork() == 0)
		_exit(0);
	sleep(1);
	say("pselect", pselect(0, NULL, NULL, NULL, &ts, &before));
	wait(NULL);
	sigprocmask(SIG_SETMASK, NULL, &now);
	printf("  blocked again: %d\n", sigismember(&now, SIGCHLD));
	alarm(4);
	say("poll and alarm", poll(NULL, 0, -1));
	alarm(4);
	sigaddset(&block, SIGALRM);
	say("ppoll that holds the alarm back", ppoll(NULL, 0, &(struct timespec){6, 0}, &block));
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void epolls(void)
{
	struct epoll_event got[8], want = {.events = EPOLLIN};
	const int ep = epoll_create1(0);
	int fds[4];
	uint64_t one = 1;

	for (int i = 0; i < 4; i++) {
		fds[i] = eventfd(0, EFD_NONBLOCK);
		want.data.u32 = (uint32_t)i;
		want.events = i == 3 ? EPOLLIN | EPOLLET : EPOLLIN;
		must(epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &want), "epoll_ctl");
	}
	say("epoll 0.1 s", epoll_wait(ep, got, 8, 100));
	say("epoll 0", epoll_wait(ep, got, 8, 0));
	for (int i = 3; i >= 0; i--)
		must((int)write(fds[i], &one, 8), "write");
	for (int round = 0; round < 2; round++) {
		const int n = epoll_wait(ep, got, 8, -1);

		say("epoll", n);
		for (int i = 0; i < n; i++)
			printf("  %u\n", got[i].data.u32);
	}
	say("epoll one", epoll_wait(ep, got, 1, -1));
	say("epoll bad", epoll_wait(fds[0], got, 1, -1));
	say("epoll none", epoll_wait(ep, got, 0, -1));
	for (int i = 0; i < 4; i++)
		must((int)read(fds[i], &one, 8), "read");
	if (fork() == 0) {
		sleep(7);
		_exit(write(fds[2], &one, 8) == 8 ? 0 : 1);
	}
	say("epoll until written", epoll_wait(ep, got, 8, 10000));
	printf("  %u\n", got[0].data.u32);
	wait(NULL);
}

static void signalfds(void)
{
	struct signalfd_siginfo info;
	struct epoll_event got, want = {.events = EPOLLIN};
	const int ep = epoll_create1(0);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	const int fd = signalfd(-1, &set, 0);
	must(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &want), "epoll_ctl");
	struct pollfd p = {fd, POLLIN, 0};
	say("poll signalfd", poll(&p, 1, 1000));
	for (int round = 0; round < 3; round++) {
		if (fork() == 0) {
			sleep(1);
			kill(getppid(), SIGUSR1);
			_exit(0);
		}
		if (round == 1)
			say("poll signalfd", poll(&p, 1, -1));
		if (round == 2)
			say("epoll signalfd", epoll_wait(ep, &got, 1, -1));
		say("read signalfd", read(fd, &info, sizeof(info)));
		printf("  signal %u\n", info.ssi_signo);
		wait(NULL);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	polls();
	selects();
	masks();
	epolls();
	signalfds();
	return 0;
}
