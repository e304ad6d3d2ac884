/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGSTOP, SIGTSTP and SIGCONT: what wait and waitid tell, once or again, and what is pending
 * meanwhile.
 *: native
 *: rootless
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t continued;

static void on_cont(int sig)
{
	(void)sig;
	continued = 1;
}

static void tell(const char *what, pid_t r, int status)
{
	printf("%s: %s", what, r > 0 ? "told" : r == 0 ? "nothing" : strerrorname_np(errno));
	if (r > 0 && WIFSTOPPED(status))
		printf(", stopped by %d", WSTOPSIG(status));
	else if (r > 0 && WIFCONTINUED(status))
		printf(", continued");
	else if (r > 0 && WIFSIGNALED(status))
		printf(", killed by %d", WTERMSIG(status));
	else if (r > 0)
		printf(", exited with %d", WEXITSTATUS(status));
	printf("\n");
	fflush(stdout);
}

static void look(const char *what, pid_t pid, int options)
{
	int status = 0;
	pid_t r = waitpid(pid, &status, options);

	tell(what, r, status);
}

static void look_by_id(const char *what, pid_t pid, int options)
{
	siginfo_t info = {0};
	int r = waitid(P_PID, (id_t)pid, &info, options);

	printf("%s: %d, %s, code %d status %d signal %d\n", what, r,
		info.si_pid == pid ? "the child" : "nobody", info.si_code, info.si_status,
		info.si_signo);
	fflush(stdout);
}

/* In a group of its own, which is not orphaned: there SIGTSTP stops. */
static pid_t make(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(pid, pid);
	return pid;
}

static void plain(void)
{
	pid_t pid = make();

	kill(pid, SIGSTOP);
	look_by_id("stop, left", pid, WSTOPPED | WNOWAIT);
	look("stop", pid, WUNTRACED);
	look("stop again", pid, WUNTRACED | WNOHANG);
	kill(pid, SIGSTOP);
	look("stop of a stopped one", pid, WUNTRACED | WNOHANG);
	kill(pid, SIGCONT);
	look_by_id("continue, left", pid, WCONTINUED | WNOWAIT);
	look("continue", pid, WCONTINUED);
	look("continue again", pid, WCONTINUED | WNOHANG);
	kill(pid, SIGCONT);
	look("continue of a running one", pid, WCONTINUED | WNOHANG);
	kill(pid, SIGTSTP);
	look("SIGTSTP", pid, WUNTRACED);
	/* While it is stopped a SIGTERM waits, SIGKILL does not. */
	kill(pid, SIGTERM);
	look("SIGTERM while stopped", pid, WNOHANG | WUNTRACED);
	kill(pid, SIGCONT);
	look("and then", pid, 0);
	pid = make();
	kill(pid, SIGSTOP);
	look("stop", pid, WUNTRACED);
	kill(pid, SIGKILL);
	look("SIGKILL while stopped", pid, 0);
}

/* SIGCONT takes a pending stop away, a stop signal a pending SIGCONT. */
static void cancel(void)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGTSTP);
	sigpending(&pending);
	printf("SIGTSTP pending %d\n", sigismember(&pending, SIGTSTP));
	kill(getpid(), SIGCONT);
	sigpending(&pending);
	printf("SIGTSTP pending %d, SIGCONT pending %d\n", sigismember(&pending, SIGTSTP),
		sigismember(&pending, SIGCONT));
	kill(getpid(), SIGTSTP);
	sigpending(&pending);
	printf("SIGTSTP pending %d, SIGCONT pending %d\n", sigismember(&pending, SIGTSTP),
		sigismember(&pending, SIGCONT));
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTSTP, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void handled(void)
{
	pid_t pid = fork();
	struct sigaction action = {.sa_handler = on_cont};

	if (pid == 0) {
		sigaction(SIGCONT, &action, NULL);
		raise(SIGSTOP);
		_exit(continued ? 5 : 6);
	}
	look("stopped itself", pid, WUNTRACED);
	kill(pid, SIGCONT);
	look("its handler ran", pid, 0);
}

static void by_wait_any(void)
{
	pid_t one = fork(), two;
	int status;

	if (one == 0) {
		raise(SIGSTOP);
		_exit(1);
	}
	waitpid(one, &status, WUNTRACED);
	two = fork();
	if (two == 0) {
		kill(one, SIGCONT);
		usleep(20000);
		_exit(2);
	}
	for (int i = 0; i < 2; i++) {
		pid_t r = wait(&status);

		printf("wait any: %s with %d\n",
			r == one   ? "one"
			: r == two ? "two"
				   : "?",
			WEXITSTATUS(status));
	}
	fflush(stdout);
}

int main(void)
{
	plain();
	cancel();
	handled();
	by_wait_any();
	return 0;
}
