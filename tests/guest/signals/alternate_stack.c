/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigaltstack: on it, off it, refused, switched off while in use, and a stack overflow that is
 * handled there.
 *: native
 *: long
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

enum { SIZE = 65536 };
static char *stack;
static sigjmp_buf back;

static int is_on_it(const void *p)
{
	return (const char *)p >= stack && (const char *)p < stack + SIZE;
}

static void look(int sig)
{
	stack_t now, other = {.ss_sp = stack, .ss_size = SIZE};
	int here;

	(void)sig;
	sigaltstack(NULL, &now);
	printf("on it %d, SS_ONSTACK %d, SS_DISABLE %d\n", is_on_it(&here),
		(now.ss_flags & SS_ONSTACK) != 0, (now.ss_flags & SS_DISABLE) != 0);
	errno = 0;
	sigaltstack(&other, NULL);
	printf("change in the handler: %s\n", errno ? strerrorname_np(errno) : "done");
}

static void with(const char *what, int stack_flags, int action_flags)
{
	stack_t mine = {.ss_sp = stack, .ss_size = SIZE, .ss_flags = stack_flags}, now;
	struct sigaction action = {.sa_handler = look, .sa_flags = action_flags};

	printf("%s:\n", what);
	if (sigaltstack(&mine, NULL) < 0)
		printf("sigaltstack: %s\n", strerrorname_np(errno));
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(NULL, &now);
	printf("afterwards flags %x\n", (unsigned)now.ss_flags);
}

static void overflown(int sig, siginfo_t *info, void *context)
{
	int here;

	(void)context;
	printf("signal %d code %d on the other stack %d\n", sig, info->si_code, is_on_it(&here));
	fflush(stdout);
	siglongjmp(back, 1);
}

/* No end of it: the compiler is not to see that. */
static volatile int for_ever = 1;

static int deeper(volatile char *above)
{
	volatile char room[4096];

	room[0] = above[0];
	return (for_ever ? deeper(room) : 0) + room[0];
}

int main(void)
{
	stack_t mine, tiny;
	struct sigaction action = {.sa_sigaction = overflown, .sa_flags = SA_ONSTACK | SA_SIGINFO};
	volatile char start[1] = {1};

	stack = malloc(SIZE);
	if (!stack)
		return 1;
	mine = (stack_t){.ss_sp = stack, .ss_size = SIZE};
	tiny = (stack_t){.ss_sp = stack, .ss_size = 64};
	with("without SA_ONSTACK", 0, 0);
	with("with SA_ONSTACK", 0, SA_ONSTACK);
	with("disabled", SS_DISABLE, SA_ONSTACK);
	with("switched off while in use", (int)SS_AUTODISARM, SA_ONSTACK);
	with("odd flags", 0x40, SA_ONSTACK);
	errno = 0;
	sigaltstack(&tiny, NULL);
	printf("too small: %s\n", errno ? strerrorname_np(errno) : "done");
	sigaltstack(&mine, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(back, 1) == 0)
		deeper(start);
	printf("and on it goes\n");
	return 0;
}
