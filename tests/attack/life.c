/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the sandbox's end: to outlive it, to outlast its time-out, to take its init away. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum verdict life_stop_self(void)
{
	fflush(stdout);
	kill(0, SIGSTOP);
	for (;;)
		pause();
}

enum verdict life_ignore_signals(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t all;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &ignore, NULL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	for (volatile unsigned long turns = 0;; turns++)
		continue;
}

/* It holds none of our descriptors, so that only its life itself keeps it in the world. */
enum verdict life_daemon_survives(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		signal(SIGHUP, SIG_IGN);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, 0);
	return judged("left a daemon");
}

enum verdict life_kill_init(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGSEGV,
		SIGABRT, SIGSTOP, SIGKILL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		kill(1, signals[i]);
	usleep(1000);
	return judged("init is still there");
}

enum verdict life_kill_all(void)
{
	fflush(stdout);
	kill(-1, SIGKILL);
	return judged("all others are gone");
}

enum verdict life_shell_bg(void)
{
	fflush(stdout);
	execl("/bin/sh", "sh", "-c",
		"sleep 100000 & (trap '' HUP TERM INT; while :; do sleep 1000; done) & echo JUDGED "
		"left two jobs",
		(char *)NULL);
	return contained("no shell: %s", strerror(errno));
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* What a call may be given: small numbers, descriptors, addresses good, bad and read-only. */
static long pick(uint64_t *state, char *memory)
{
	const uint64_t r = next_random(state);

	switch (r % 8) {
	case 0:
		return (long)(r >> 8 & 7);
	case 1:
		return (long)(memory + (r >> 8 & 0xfff));
	case 2:
		return (long)pick;
	case 3:
		return (long)(r >> 8 & 0xffff);
	case 4:
		return -(long)(r >> 8 & 0xff);
	case 5:
		return (long)next_random(state);
	case 6:
		return 4096L << (r >> 8 & 15);
	default:
		return 0;
	}
}

/* Calls that would only end the child, multiply it, or keep it from being ended: nothing to learn.
 */
static bool is_dull(long nr)
{
	static const long dull[] = {
		SYS_exit,
		SYS_exit_group,
		SYS_rt_sigreturn,
		SYS_rt_sigaction,
		SYS_rt_sigprocmask,
		SYS_rt_sigsuspend,
		SYS_rt_sigtimedwait,
		SYS_kill,
		SYS_tkill,
		SYS_tgkill,
		SYS_rt_sigqueueinfo,
		SYS_rt_tgsigqueueinfo,
		SYS_pidfd_send_signal,
		SYS_clone,
		SYS_clone3,
		SYS_setitimer,
#if defined(__x86_64__)
		SYS_fork,
		SYS_vfork,
		SYS_alarm,
#endif
	};

	for (size_t i = 0; i < sizeof(dull) / sizeof(*dull); i++)
		if (dull[i] == nr)
			return true;
	return false;
}

/* A thousand random calls; whatever becomes of this process, init has to live. */
static void storm(uint64_t seed)
{
	static char memory[16384];
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;

	const struct itimerval soon = {{0, 0}, {0, 200000}};
	const int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (int i = 0; i < 1000; i++) {
		const long nr = (long)(next_random(&state) % 470);

		if (!is_dull(nr))
			syscall(nr, pick(&state, memory), pick(&state, memory),
				pick(&state, memory), pick(&state, memory), pick(&state, memory),
				pick(&state, memory));
	}
	_exit(0);
}

/* Only ever inside: it would do harm elsewhere. */
enum verdict life_call_storm(void)
{
	char name[64] = "";

	gethostname(name, sizeof(name) - 1);
	if (strcmp(name, "sandglass") != 0 || access("/proc/1/root", R_OK) == 0)
		return escaped("this is not the sandbox");
	for (uint64_t seed = 1; seed <= 40; seed++) {
		const pid_t pid = fork();

		if (pid == 0)
			storm(seed);
		waitpid(pid, NULL, 0);
	}
	return judged("all have ended");
}

/* Always another child on its way: whoever kills one at a time is never done. */
enum verdict life_fork_storm(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid == 0)
			setsid();
	}
}
