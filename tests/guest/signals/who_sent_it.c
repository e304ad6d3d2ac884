/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What siginfo says of a signal's sender: kill, tgkill, raise, sigqueue, a timer, a child, the
 * kernel.
 *: native
 *: rootless
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t set;
static pid_t child;

static const char *whose(pid_t pid)
{
	return pid == 0 ? "none" : pid == getpid() ? "self" : pid == child ? "the child" : "other";
}

static void take(const char *what)
{
	siginfo_t info;
	int sig = sigwaitinfo(&set, &info);

	printf("%s: signal %d code %d errno %d pid %s", what, sig, info.si_code, info.si_errno,
		whose(info.si_pid));
	if (info.si_pid != 0 && (info.si_pid == getpid() || info.si_pid == child))
		printf(" uid %s", info.si_uid == getuid() ? "own" : "another");
	else
		printf(" uid %d", info.si_uid);
	if (info.si_code == SI_QUEUE)
		printf(" value %d", info.si_value.sival_int);
	if (sig == SIGCHLD && info.si_code > 0)
		printf(" status %d", info.si_status);
	printf("\n");
	fflush(stdout);
}

static void of_children(void)
{
	child = fork();
	if (child == 0)
		_exit(42);
	take("a child that exits");
	waitpid(child, NULL, 0);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	kill(child, SIGSTOP);
	take("a child that is stopped");
	kill(child, SIGCONT);
	take("a child that goes on");
	kill(child, SIGKILL);
	take("a child that is ended");
	waitpid(child, NULL, 0);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		sigemptyset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		raise(SIGQUIT);
	}
	take("a child that dumps nothing");
	waitpid(child, NULL, 0);
	child = fork();
	if (child == 0) {
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	take("a signal of the child's");
	take("and its end");
	waitpid(child, NULL, 0);
}

static void refused(int code)
{
	siginfo_t info = {.si_signo = SIGUSR1, .si_code = code};

	errno = 0;
	syscall(SYS_rt_sigqueueinfo, getppid(), SIGUSR1, &info);
	printf("code %d to another: %s\n", code, errno ? strerrorname_np(errno) : "done");
}

int main(void)
{
	siginfo_t own = {.si_signo = SIGUSR1, .si_code = SI_MESGQ, .si_pid = 77};
	int fds[2];

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	kill(getpid(), SIGUSR1);
	take("kill");
	raise(SIGUSR1);
	take("raise");
	syscall(SYS_tkill, getpid(), SIGUSR2);
	take("tkill");
	sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = -5});
	take("sigqueue");
	syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &own);
	take("rt_sigqueueinfo of its own making");
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 1000}}, NULL);
	take("a timer");
	alarm(1);
	take("alarm");
	if (pipe(fds) == 0) {
		close(fds[0]);
		printf("write %zd\n", write(fds[1], "x", 1));
		take("a pipe without a reader");
	}
	of_children();
	refused(SI_USER);
	refused(SI_KERNEL);
	refused(SI_TKILL);
	refused(1);
	return 0;
}
