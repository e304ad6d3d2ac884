/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of the program itself: the signal, its code and its address, and one that is blocked.
 *: native
 *: long
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static char *page, *past_end;
static volatile uintptr_t low = 16, high = 0x8000000000000000;

static void tell(int sig, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;

	(void)context;
	printf("signal %d code %d address ", sig, info->si_code);
	if (at >= page && at < page + 8192)
		printf("page + %zd\n", at - page);
	else if (at >= past_end && at < past_end + 8192)
		printf("file + %zd\n", at - past_end);
	else if ((uintptr_t)at < 65536)
		printf("%zu\n", (size_t)(uintptr_t)at);
	else
		printf("elsewhere\n");
	fflush(stdout);
	siglongjmp(back, 1);
}

static void try(const char *what, void (*fault)(void))
{
	printf("%s: ", what);
	if (sigsetjmp(back, 1) == 0) {
		fault();
		printf("nothing\n");
	}
}

static void unmapped(void)
{
	*(volatile char *)low = 1;
}

static void read_only(void)
{
	*(volatile char *)(page + 5) = 1;
}

static void no_access(void)
{
	(void)*(volatile char *)(page + 4096 + 7);
}

static void beyond_the_file(void)
{
	(void)*(volatile char *)(past_end + 4096 + 3);
}

static void jump_nowhere(void)
{
	void (*volatile nowhere)(void) = NULL;

	nowhere();
}

#if defined(__x86_64__)
static void not_canonical(void)
{
	*(volatile char *)high = 1;
}

static void divide(void)
{
	volatile int zero = 0;

	low = (uintptr_t)(1 / zero);
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void privileged(void)
{
	__asm__ volatile("hlt");
}

static void single_step(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop" ::: "memory", "cc");
}
#endif

static void undefined(void)
{
	__builtin_trap();
}

/* One that is blocked ends the process, handler or not. */
static void blocked(void)
{
	sigset_t set;
	int status;

	fflush(stdout);
	if (fork() == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		sigfillset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		unmapped();
		_exit(0);
	}
	wait(&status);
	printf("blocked: ended by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int main(void)
{
	const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
	int file = open("short", O_RDWR | O_CREAT, 0600);

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	if (write(file, "x", 1) != 1)
		return 1;
	page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + 4096, 4096, PROT_NONE);
	past_end = mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
	try("unmapped", unmapped);
	try("read-only", read_only);
	try("no access", no_access);
	try("beyond the file", beyond_the_file);
	try("jump nowhere", jump_nowhere);
	try("undefined", undefined);
#if defined(__x86_64__)
	try("not canonical", not_canonical);
	try("division by zero", divide);
	try("breakpoint", breakpoint);
	try("privileged", privileged);
	try("single step", single_step);
#endif
	blocked();
	return 0;
}
