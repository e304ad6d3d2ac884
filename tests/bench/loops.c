/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bench times: loops CLASS COUNT [FILE] does one kind of thing COUNT times. It keeps no
 * time itself, since inside the sandbox its clock stands still: bench.c times the whole process and
 * subtracts a run with COUNT 0.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int spawns(unsigned long count, const char *file)
{
	(void)file;
	for (unsigned long i = 0; i < count; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
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
	{"write", byte_writes},
	{"spawn", spawns},
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
