/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what signals do to calls that sleep, with and without SA_RESTART, and that calls keep
 * registers. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static int ends[2];

static void note(int sig)
{
	(void)sig;
	seen++;
}

static void handle(int sig, int flags)
{
	const struct sigaction action = {.sa_handler = note, .sa_flags = flags};

	sigaction(sig, &action, NULL);
}

static void arm(int seconds)
{
	const struct itimerval value = {.it_value = {seconds, 0}};

	setitimer(ITIMER_REAL, &value, NULL);
}

/* A child that writes a byte after some seconds, signalling its parent once in each before. */
static pid_t later(int seconds, int sig)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	for (int i = 1; i < seconds; i++) {
		sleep(1);
		if (sig)
			kill(parent, sig);
	}
	sleep(1);
	if (write(ends[1], "x", 1) != 1)
		_exit(1);
	_exit(0);
}

static void print_call(const char *name, long result)
{
	struct timespec now;
	const char *error = result < 0 ? strerrorname_np(errno) : "worked";

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s: %s, %d signals, at %ld.%09ld\n", name, error, (int)seen, (long)now.tv_sec,
		now.tv_nsec);
	fflush(stdout);
	seen = 0;
}

static void drain(void)
{
	char byte;

	while (read(ends[0], &byte, 1) < 0)
		continue;
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
	seen = 0;
}

static void with(int flags)
{
	struct timespec rest = {2, 0}, four = {4, 0};
	struct pollfd pipe_in = {.fd = ends[0], .events = POLLIN};
	char byte;
	int word = 0;

	printf("%s\n", flags ? "SA_RESTART" : "no SA_RESTART");
	fflush(stdout);
	handle(SIGALRM, flags);
	later(3, SIGALRM);
	print_call("read", read(ends[0], &byte, 1));
	if (!flags)
		drain();
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
	seen = 0;
	later(2, 0);
	arm(1);
	print_call("wait", wait(NULL));
	drain();
	arm(1);
	print_call("nanosleep", nanosleep(&rest, &rest));
	printf("left %ld.%09ld\n", (long)rest.tv_sec, rest.tv_nsec);
	arm(1);
	print_call("poll", poll(&pipe_in, 1, 5000));
	arm(1);
	print_call("futex", syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, &four, NULL, 0));
	handle(SIGALRM, SA_RESTART);
	signal(SIGUSR1, SIG_IGN);
	later(3, SIGUSR1);
	print_call("read, ignored", read(ends[0], &byte, 1));
	while (wait(NULL) > 0)
		continue;
}

/* Which of the registers that a call has to keep it kept: one digit each. */
static void print_kept(const char *name, long nr, long a, long b, long c)
{
#if defined(__x86_64__)
	register long r8 __asm__("r8") = 8, r9 __asm__("r9") = 9, r10 __asm__("r10") = 10;
	long di = a, si = b, dx = c, ax = nr;

	__asm__ volatile("syscall"
			 : "+a"(ax), "+D"(di), "+S"(si), "+d"(dx), "+r"(r8), "+r"(r9), "+r"(r10)
			 :
			 : "rcx", "r11", "memory");
	printf("%s kept %d%d%d%d%d%d\n", name, di == a, si == b, dx == c, r8 == 8, r9 == 9,
		r10 == 10);
#else
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = 3, x7 __asm__("x7") = 7;
	register long x9 __asm__("x9") = 9;

	__asm__ volatile("svc #0"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x7), "+r"(x8), "+r"(x9)
			 :
			 : "memory");
	printf("%s kept %d%d%d%d%d%d\n", name, x8 == nr, x1 == b, x2 == c, x3 == 3, x7 == 7,
		x9 == 9);
#endif
	fflush(stdout);
}

int main(void)
{
	struct utsname name;
	char byte;

	if (pipe(ends) < 0)
		return 1;
	with(0);
	with(SA_RESTART);
	print_kept("getpid", SYS_getpid, 1, 2, 3);
	print_kept("uname", SYS_uname, (long)&name, 2, 3);
	print_kept("read of nothing", SYS_read, -1, (long)&byte, 1);
	handle(SIGALRM, SA_RESTART);
	later(3, SIGALRM);
	print_kept("read that waits", SYS_read, ends[0], (long)&byte, 1);
	while (wait(NULL) > 0)
		continue;
	return 0;
}
