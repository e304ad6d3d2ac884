/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends the wait is that another thread makes the page read-only that the loop writes: a
 * signal.
 *: native
 *: out stopped by a fault
 *: long
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf out;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void *protect(void *page)
{
	mprotect(page, 4096, PROT_READ);
	return page;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_fault};
	pthread_t thread;
	int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(out, 1) == 0) {
		pthread_create(&thread, NULL, protect, page);
		for (;;)
			*(volatile int *)page = 1;
	}
	puts("stopped by a fault");
	return 0;
}
