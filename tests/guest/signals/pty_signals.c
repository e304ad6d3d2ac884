/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of a terminal that are signals: ^C, ^\ and ^Z to the foreground group alone, and the tail
 * that is thrown away with them.
 *: native
 *: long
 */
#include <signal.h>
#include <sys/wait.h>

#include "pty.h"

static void tell(int sig)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "[signal %d]\n", sig);

	if (write(1, text, (size_t)n) < 0)
		_exit(9);
}

static void catch (int sig)
{
	struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};

	sigaction(sig, &action, NULL);
}

/* Reads lines while a member of another group must get nothing. */
static void inside(void)
{
	char line[80];
	pid_t other = fork();

	if (other == 0) {
		setpgid(0, 0);
		catch (SIGINT);
		catch (SIGTSTP);
		for (;;)
			pause();
	}
	setpgid(other, other);
	catch (SIGINT);
	catch (SIGQUIT);
	catch (SIGTSTP);
	catch (SIGCONT);
	printf("ready\n");
	fflush(stdout);
	while (read(0, line, sizeof(line)) > 0 && line[0] != 'q') {
		*strchr(line, '\n') = '\0';
		printf("<%s>\n", line);
		fflush(stdout);
	}
	signal(SIGINT, SIG_DFL);
	printf("last\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(void)
{
	int slave, master = pty_open(&slave), status;
	pid_t pid = fork();

	if (pid == 0) {
		pty_take(master, slave);
		inside();
	}
	close(slave);
	pty_show(master, "ready\r\n");
	pty_type(master, "lost");
	pty_show(master, "lost");
	pty_type(master, "\003");
	pty_show(master, "[signal 2]\r\n");
	pty_type(master, "kept\n");
	pty_show(master, "<kept>\r\n");
	pty_type(master, "\034");
	pty_show(master, "[signal 3]\r\n");
	pty_type(master, "\032");
	pty_show(master, "[signal 20]\r\n");
	pty_type(master, "q\n");
	pty_show(master, "last\r\n");
	pty_type(master, "\003");
	waitpid(pid, &status, 0);
	printf("ended by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}
