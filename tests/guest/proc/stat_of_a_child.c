/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child's line of stat while it sleeps, after it stopped and after it died.
 *: varies
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(pid_t pid)
{
	char path[64], line[1024] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		printf("%s", line);
	if (f)
		fclose(f);
}

int main(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	usleep(20000);
	show(child);
	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	show(child);
	kill(child, SIGKILL);
	usleep(20000);
	show(child);
	waitpid(child, NULL, 0);
	show(getpid());
	return 0;
}
