/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bench times: loops CLASS COUNT [FILE] does one kind of thing COUNT times. It keeps no
 * time itself, since inside the sandbox its clock stands still: bench.c times the whole process and
 * subtracts a run with COUNT 0.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As real programs do: a call that the supervisor answers once every 8,192 reads of the clock. */
static int clock_reads(unsigned long count, const char *file)
{
	struct timespec now;
	struct utsname name;

	(void)file;
	for (unsigned long i = 0; i < count; i++) {
		if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
			return 1;
		if (i % 8192 == 8191 && uname(&name) != 0)
			return 1;
	}
	return 0;
}

static int raw_calls(unsigned long count, const char *file)
{
	(void)file;
	for (unsigned long i = 0; i < count; i++)
		if (syscall(SYS_getpid) <= 0)
			return 1;
	return 0;
}

static int filtered_calls(unsigned long count, const char *file)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 1;
	return raw_calls(count, file);
}

/* A call that the supervisor answers from what it knows, without touching the guest's memory. */
static int stops(unsigned long count, const char *file)
{
	(void)file;
	for (unsigned long i = 0; i < count; i++)
		if (sched_getscheduler(0) != SCHED_OTHER)
			return 1;
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long turn; /* even: the first thread's */

/* Takes every second turn; a turn taken is one hand-off. */
static void take_turns(unsigned long from, unsigned long count)
{
	pthread_mutex_lock(&mutex);
	for (unsigned long i = from; i < count; i += 2) {
		while (turn != i)
			pthread_cond_wait(&changed, &mutex);
		turn++;
		pthread_cond_signal(&changed);
	}
	pthread_mutex_unlock(&mutex);
}

static void *other_thread(void *count)
{
	take_turns(1, *(const unsigned long *)count);
	return NULL;
}

static int hand_offs(unsigned long count, const char *file)
{
	pthread_t other;

	(void)file;
	if (pthread_create(&other, NULL, other_thread, &count) != 0)
		return 1;
	take_turns(0, count);
	return pthread_join(other, NULL) != 0 || turn != count;
}

static int round_trips(unsigned long count, const char *file)
{
	int there[2], back[2], status = 0;
	char byte = 'x';
	pid_t pid;

	(void)file;
	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			if (write(back[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (unsigned long i = 0; i < count; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	close(there[1]);
	return waitpid(pid, &status, 0) != pid || status != 0;
}

/* A byte at a time into a pipe that another process empties. */
static int pipe_bytes(unsigned long count, const char *file)
{
	static char taken[65536];
	unsigned long sum = 0;
	int ends[2], status = 0;
	pid_t pid;
	ssize_t n;

	(void)file;
	if (pipe(ends) != 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		for (unsigned long i = 0; i < count; i++)
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], taken, sizeof(taken))) > 0)
		sum += (unsigned long)n;
	return waitpid(pid, &status, 0) != pid || status != 0 || sum != count;
}

static int byte_writes(unsigned long count, const char *file)
{
	int bad = 0;
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return 1;
	for (unsigned long i = 0; i < count && !bad; i++)
		bad = write(fd, "x", 1) != 1;
	close(fd);
	unlink(file);
	return bad;
}

static int stats(unsigned long count, const char *file)
{
	struct stat st;

	(void)file;
	for (unsigned long i = 0; i < count; i++)
		if (stat("loops", &st) != 0)
			return 1;
	return 0;
}

static int open_stats(unsigned long count, const char *file)
{
	int fd = open("loops", O_RDONLY | O_CLOEXEC), bad = fd < 0;
	struct stat st;

	(void)file;
	for (unsigned long i = 0; i < count && !bad; i++)
		bad = fstat(fd, &st) != 0;
	if (fd >= 0)
		close(fd);
	return bad;
}

static int yields(unsigned long count, const char *file)
{
	(void)file;
	for (unsigned long i = 0; i < count; i++)
		if (sched_yield() != 0)
			return 1;
	return 0;
}

static int short_sleeps(unsigned long count, const char *file)
{
	(void)file;
	for (unsigned long i = 0; i < count; i++)
		if (usleep(1) != 0)
			return 1;
	return 0;
}

static int pipes(unsigned long count, const char *file)
{
	(void)file;
	for (unsigned long i = 0; i < count; i++) {
		int ends[2];

		if (pipe(ends) != 0 || close(ends[0]) != 0 || close(ends[1]) != 0)
			return 1;
	}
	return 0;
}

static int posix_spawns(unsigned long count, const char *file)
{
	char *args[] = {strdup(file), NULL};
	unsigned long i;

	for (i = 0; i < count; i++) {
		int status;
		pid_t pid;

		if (posix_spawn(&pid, file, NULL, NULL, args, NULL) != 0 ||
			waitpid(pid, &status, 0) != pid || status != 0)
			break;
	}
	free(args[0]);
	return i != count;
}

static int spawns(unsigned long count, const char *file)
{
	if (!*file)
		file = "/bin/true";
	for (unsigned long i = 0; i < count; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			execl(file, file, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(unsigned long count, const char *file);
} classes[] = {
	{"clock", clock_reads},
	{"getpid", raw_calls},
	{"filtered", filtered_calls},
	{"stop", stops},
	{"hand", hand_offs},
	{"trip", round_trips},
	{"bytes", pipe_bytes},
	{"write", byte_writes},
	{"spawn", spawns},
	{"pspawn", posix_spawns},
	{"stat", stats},
	{"fstat", open_stats},
	{"yield", yields},
	{"usleep", short_sleeps},
	{"pipe", pipes},
};

int main(int argc, char **argv)
{
	char *end;
	unsigned long count;

	if (argc < 3)
		return 2;
	count = strtoul(argv[2], &end, 10);
	for (size_t i = 0; *end == '\0' && i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strcmp(argv[1], classes[i].name) == 0)
			return classes[i].run(count, argc > 3 ? argv[3] : "");
	fprintf(stderr, "loops: no class '%s' or a bad count '%s'\n", argv[1], argv[2]);
	return 2;
}
