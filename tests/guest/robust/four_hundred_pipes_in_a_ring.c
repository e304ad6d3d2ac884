/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token goes ten times around a ring of 200 processes, one pipe between each two.
 *: native
 *: long
 *: out 2000
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEATS = 200, ROUNDS = 10 };

static int ends[SEATS][2];

/* Everything but its own two ends is closed, so that the end of one is the end of all. */
static void sit(int seat)
{
	int from = dup2(ends[seat][0], 1000), to = dup2(ends[(seat + 1) % SEATS][1], 1001), token;

	for (int i = 0; i < SEATS; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
	while (read(from, &token, sizeof(token)) == sizeof(token)) {
		token++;
		if (write(to, &token, sizeof(token)) != sizeof(token))
			break;
	}
	_exit(0);
}

int main(void)
{
	int token = 0;

	for (int i = 0; i < SEATS; i++)
		if (pipe(ends[i]) < 0)
			return 1;
	for (int i = 1; i < SEATS; i++)
		if (fork() == 0)
			sit(i);
	for (int round = 0; round < ROUNDS; round++) {
		token++;
		if (write(ends[1][1], &token, sizeof(token)) != sizeof(token) ||
			read(ends[0][0], &token, sizeof(token)) != sizeof(token))
			return 1;
	}
	printf("%d\n", token);
	fflush(stdout);
	for (int i = 0; i < SEATS; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
