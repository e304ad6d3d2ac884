/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parent and child hand a word in shared memory to and fro, neither with a call.
 *: native
 *: out 10
 *: long
 */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	atomic_int *word =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	int mine = child == 0;

	for (int i = 0; i < 5; i++) {
		while (atomic_load(word) % 2 != mine)
			;
		atomic_fetch_add(word, 1);
	}
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	printf("%d\n", atomic_load(word));
	return 0;
}
