/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends the wait is that another thread writes over the loop itself, as compilers at run
 * time do.
 *: native
 *: out left the loop
 *: long
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static unsigned char *code;

static void *patch(void *unused)
{
	code[0] = 0xc3; /* ret, over a jump to itself */
	return unused;
}

int main(void)
{
	static const unsigned char loop[] = {0xeb, 0xfe, 0xc3};
	pthread_t thread;
	void (*call)(void);

	code = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, loop, sizeof(loop));
	memcpy(&call, &code, sizeof(call));
	pthread_create(&thread, NULL, patch, NULL);
	call();
	puts("left the loop");
	pthread_join(thread, NULL);
	return 0;
}
