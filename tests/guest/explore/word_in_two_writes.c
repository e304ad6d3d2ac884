/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: two processes write a line each, in two pieces.
 *: long
 *: out one line
 *: out two line
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *word)
{
	if (write(1, word, strlen(word)) < 0 || write(1, " line\n", 6) != 6)
		_exit(1);
	_exit(0);
}

int main(void)
{
	int status, bad = 0;

	if (fork() == 0)
		say("one");
	if (fork() == 0)
		say("two");
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
