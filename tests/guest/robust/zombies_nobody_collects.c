/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 400 children end and are not waited for; their parent ends with them.
 *: native
 *: long
 *: out 400 children are there
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static pid_t children[400];
	int there = 0;

	for (int i = 0; i < 400; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(0);
	}
	sleep(1);
	for (int i = 0; i < 400; i++)
		there += children[i] > 0 && kill(children[i], 0) == 0;
	printf("%d children are there\n", there);
	return 0;
}
