/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group with a stopped member becomes orphaned: it gets SIGHUP and SIGCONT; in an orphaned one
 * SIGTSTP does nothing.
 *: native
 *: long
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int out[2];
static volatile sig_atomic_t got_hup, got_cont;

static void note(int sig)
{
	if (sig == SIGHUP)
		got_hup = 1;
	else
		got_cont = 1;
}

static void say(const char *text)
{
	dprintf(out[1], "%s\n", text);
}

/* Stops itself; goes on as an orphan. */
static void member(void)
{
	struct sigaction action = {.sa_handler = note};

	sigfillset(&action.sa_mask);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGCONT, &action, NULL);
	raise(SIGTSTP);
	dprintf(out[1], "goes on, SIGHUP %d SIGCONT %d\n", (int)got_hup, (int)got_cont);
	signal(SIGTTIN, SIG_DFL);
	raise(SIGTTIN);
	say("SIGTTIN did not stop it");
	raise(SIGTSTP);
	say("nor did SIGTSTP");
	_exit(0);
}

/* The only one of the group's parents outside it that is in the session. */
static void go_between(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		member();
	}
	setpgid(pid, pid);
	waitpid(pid, &status, WUNTRACED);
	say(WIFSTOPPED(status) ? "stopped" : "not stopped");
	_exit(0);
}

int main(void)
{
	char text[512];
	ssize_t n;
	pid_t leader;

	if (pipe(out) < 0)
		return 1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	leader = fork();
	if (leader == 0) {
		setsid();
		go_between();
	}
	close(out[1]);
	waitpid(leader, NULL, 0);
	while ((n = read(out[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	while (wait(NULL) > 0)
		puts("the orphan came to the subreaper");
	return 0;
}
