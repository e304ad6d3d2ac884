/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of each kind of waiting call when a signal comes: as the kernel does it natively. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled = handled + 1;
}

static void handle(int sig, int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(sig, &action, NULL);
}

static void say(const char *what, long result)
{
	printf("%s: %ld%s%s handled %d\n", what, result, result < 0 ? " " : "",
		result < 0 ? strerrorname_np(errno) : "", (int)handled);
	handled = 0;
}

static void reads(void)
{
	int p[2];
	char byte;
	pid_t child;

	if (pipe(p) < 0)
		exit(1);
	handle(SIGALRM, 0);
	alarm(1);
	say("read", read(p[0], &byte, 1));
	handle(SIGALRM, SA_RESTART);
	alarm(1);
	child = fork();
	if (child == 0) {
		alarm(0);
		sleep(3);
		_exit(write(p[1], "x", 1) != 1);
	}
	say("read with SA_RESTART", read(p[0], &byte, 1));
	waitpid(child, NULL, 0);
}

static void sleeps(void)
{
	struct timespec five = {5, 0}, two = {2, 0}, rest = {0};

	handle(SIGALRM, SA_RESTART);
	alarm(2);
	say("nanosleep", nanosleep(&five, &rest));
	printf("about %ld s are left\n", (long)rest.tv_sec + (rest.tv_nsec > 500000000));
	signal(SIGALRM, SIG_IGN);
	alarm(1);
	say("nanosleep through an ignored signal", nanosleep(&two, &rest));
	handle(SIGALRM, 0);
	alarm(1);
	say("pause", pause());
	alarm(1);
	say("poll", poll(NULL, 0, 5000));
	handle(SIGALRM, SA_RESTART);
	alarm(1);
	say("poll with SA_RESTART", poll(NULL, 0, 5000));
}

static void masks(void)
{
	struct timespec one = {1, 0}, five = {5, 0};
	sigset_t only, none, before, now;
	siginfo_t info = {0};
	int sig = 0;

	sigemptyset(&none);
	sigemptyset(&only);
	sigaddset(&only, SIGALRM);
	sigprocmask(SIG_BLOCK, &only, &before);
	alarm(1);
	say("sigsuspend", sigsuspend(&none));
	sigprocmask(0, NULL, &now);
	printf("blocked again: %d\n", sigismember(&now, SIGALRM));
	alarm(1);
	say("sigwait", sigwait(&only, &sig));
	say("sigtimedwait of nothing", sigtimedwait(&only, NULL, &one));
	alarm(1);
	say("sigtimedwait", sigtimedwait(&only, &info, &five));
	printf("sent by the kernel: %d, pid %d\n", info.si_code == SI_KERNEL, info.si_pid);
	alarm(1);
	say("ppoll", ppoll(NULL, 0, &five, &none));
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void *signal_main(void *arg)
{
	struct timespec one = {1, 0};

	nanosleep(&one, NULL);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

static void threads(void)
{
	pthread_t self = pthread_self(), other;

	handle(SIGUSR1, 0);
	pthread_create(&other, NULL, signal_main, &self);
	say("pause ended by a thread", pause());
	pthread_join(other, NULL);
}

static void say_status(const char *what, pid_t child, int options)
{
	int status = 0;

	waitpid(child, &status, options);
	printf("%s: exited %d status %d signalled %d stopped %d\n", what, WIFEXITED(status),
		WIFEXITED(status) ? WEXITSTATUS(status) : 0,
		WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		WIFSTOPPED(status) ? WSTOPSIG(status) : 0);
}

static pid_t fork_pausing(void)
{
	pid_t child = fork();

	while (child == 0)
		pause();
	sleep(1);
	return child;
}

static void children(void)
{
	pid_t child = fork_pausing();

	kill(child, SIGTERM);
	say_status("SIGTERM", child, 0);
	child = fork_pausing();
	kill(child, SIGKILL);
	say_status("SIGKILL", child, 0);
	child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		_exit(7);
	}
	say_status("SIGSTOP", child, WUNTRACED);
	kill(child, SIGCONT);
	say_status("SIGCONT", child, 0);
}

static void child_signals(void)
{
	pid_t child;

	handle(SIGCHLD, 0);
	child = fork();
	if (child == 0) {
		sleep(1);
		_exit(3);
	}
	say("waitpid with a handler", waitpid(child, NULL, 0) == child);
	child = fork();
	if (child == 0) {
		sleep(1);
		_exit(3);
	}
	say("sleep ended by a child", sleep(5) >= 3);
	waitpid(child, NULL, 0);
	signal(SIGCHLD, SIG_IGN);
	child = fork();
	if (child == 0)
		_exit(0);
	say("waitpid of ignored children", waitpid(child, NULL, 0));
}

int main(void)
{
	struct itimerval each = {{1, 0}, {1, 0}}, off = {{0, 0}, {0, 0}};

	setvbuf(stdout, NULL, _IONBF, 0);
	reads();
	sleeps();
	masks();
	handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &each, NULL);
	while (handled < 3)
		pause();
	setitimer(ITIMER_REAL, &off, NULL);
	say("interval timer", 0);
	threads();
	children();
	child_signals();
	return 0;
}
