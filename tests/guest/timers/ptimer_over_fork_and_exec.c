/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neither a child nor a new program has its parent's or predecessor's POSIX timers; numbers start
 *anew.
 *
 *: long
 *: native
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

int main(int argc, char **argv)
{
	struct itimerspec its = ispec(5 * MS, 5 * MS);
	int id = -1;

	if (argc > 1) {
		say("exec: old timer", syscall(SYS_timer_gettime, 0, &its));
		pause_ms(30);
		puts("no signal came");
		syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id);
		printf("exec: first id %d\n", id);
		return 0;
	}
	for (int i = 0; i < 3; i++) {
		syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id);
		printf("id %d\n", id);
	}
	syscall(SYS_timer_delete, 1);
	syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id);
	printf("after a deletion: id %d\n", id);
	fflush(stdout);
	if (fork() == 0) {
		say("child: parent's timer", syscall(SYS_timer_gettime, 0, &its));
		syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id);
		printf("child: first id %d\n", id);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	syscall(SYS_timer_settime, 0, 0, &its, NULL);
	execl("/proc/self/exe", argv[0], "again", NULL);
	return 1;
}
