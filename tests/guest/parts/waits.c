/* SPDX-License-Identifier: Apache-2.0 */
/* What a wait for a child tells of it: that it stopped, goes on, or ended; each once. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void say(const char *what, long start, pid_t child, int options)
{
	int status = 0;
	const pid_t pid = waitpid(child, &status, options);

	printf("%s: %s, status %#x, after %ld s\n", what, pid == child ? "told" : "nothing",
		(unsigned)status, now() - start);
}

static pid_t fork_stopping(void)
{
	const pid_t child = fork();

	if (child == 0) {
		raise(SIGSTOP);
		sleep(5);
		_exit(3);
	}
	return child;
}

static pid_t fork_continuing(pid_t child)
{
	const pid_t other = fork();

	if (other == 0) {
		sleep(1);
		kill(child, SIGCONT);
		_exit(0);
	}
	return other;
}

static void stops(void)
{
	const long start = now();
	const pid_t child = fork_stopping(), other = fork_continuing(child);

	say("stopped", start, child, WUNTRACED);
	say("stopped again", start, child, WUNTRACED | WNOHANG);
	say("ended", start, child, WUNTRACED);
	say("the other", start, other, 0);
}

static void continues(void)
{
	const long start = now();
	const pid_t child = fork_stopping(), other = fork_continuing(child);

	say("continued", start, child, WCONTINUED);
	say("continued again", start, child, WCONTINUED | WNOHANG);
	say("ended", start, child, WCONTINUED);
	say("the other", start, other, 0);
}

static void stays(void)
{
	const pid_t child = fork_stopping();
	siginfo_t info;

	for (int i = 0; i < 2; i++) {
		const int look = i == 0 ? WNOWAIT : 0;

		info.si_status = 0;
		if (waitid(P_PID, (id_t)child, &info, WSTOPPED | look) < 0)
			exit(1);
		printf("left there: signal %d\n", info.si_status);
	}
	kill(child, SIGKILL);
	say("killed", now(), child, 0);
}

static void by_pidfd(void)
{
	const long start = now();
	const pid_t child = fork();
	siginfo_t info = {0};
	int fd;

	if (child == 0) {
		sleep(2);
		_exit(4);
	}
	fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (fd < 0 || waitid(P_PIDFD, (id_t)fd, &info, WEXITED) < 0)
		exit(1);
	printf("by pidfd: %d, after %ld s\n", info.si_status, now() - start);
	close(fd);
}

/* The death of a child that sleeps must come before its sleep ends. */
static void killed_by_pidfd(void)
{
	const long start = now();
	const pid_t child = fork();
	int fd;

	if (child == 0) {
		sleep(100);
		_exit(4);
	}
	sleep(1);
	fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0)
		exit(1);
	say("killed by pidfd", start, child, 0);
	close(fd);
}

static void die_with_parent(int i)
{
	int signal = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_GET_PDEATHSIG, &signal);
	if (signal != SIGKILL)
		_exit(1);
	sleep(i < 3 ? 100 : 1);
	kill(getppid(), SIGKILL);
	pause(); /* dead before, or soon */
}

/* One of several that die with their parent kills it. */
static void orphans(void)
{
	const long start = now();
	const pid_t parent = fork();
	int status, killed = 0;

	if (parent == 0) {
		for (int i = 0; i < 4; i++)
			if (fork() == 0)
				die_with_parent(i);
		sleep(50);
		_exit(1);
	}
	say("parent", start, parent, 0);
	while (wait(&status) > 0)
		killed += WIFSIGNALED(status);
	printf("with it: %d, after %ld s\n", killed, now() - start);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	stops();
	continues();
	stays();
	by_pidfd();
	killed_by_pidfd();
	orphans();
	return 0;
}
