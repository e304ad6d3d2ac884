/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on resources, each bounded so that even an escape leaves the machine alive. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 300, THREADS = 600, FILES = 80, FILE_BYTES = 8 << 20, INODES = 300000 };

enum verdict res_forkbomb(void)
{
	static pid_t pids[CHILDREN];
	int made = 0;

	while (made < CHILDREN && (pids[made] = fork()) >= 0) {
		if (pids[made] == 0) {
			pause();
			_exit(0);
		}
		made++;
	}
	int saved = errno;

	for (int i = 0; i < made; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		continue;
	if (made == CHILDREN)
		return escaped("%d children live at once", made);
	return contained("fork: %s", strerror(saved));
}

static void *rest(void *unused)
{
	pause();
	return unused;
}

enum verdict res_threadbomb(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (int made = 0; made < THREADS; made++) {
		int error = pthread_create(&thread, &attr, rest, NULL);

		if (error)
			return contained("pthread_create: %s", strerror(error));
	}
	return escaped("%d threads live at once", THREADS);
}

enum verdict res_membomb(void)
{
	const size_t block = 1 << 20;

	for (unsigned long i = 0; i < canary.mib; i++) {
		char *memory = mmap(
			NULL, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return contained("mmap after some: %s", strerror(errno));
		memset(memory, 1, block);
	}
	return escaped("%lu MiB are in use", canary.mib);
}

enum verdict res_memfd_hoard(void)
{
	static char block[1 << 20];
	int fd = memfd_create("hoard", MFD_CLOEXEC);

	if (fd < 0)
		return contained("memfd_create: %s", strerror(errno));
	memset(block, 1, sizeof(block));
	for (unsigned long i = 0; i < canary.mib; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			return contained("write to the memfd: %s", strerror(errno));
	return escaped("%lu MiB are held in a memfd", canary.mib);
}

static enum verdict fill(const char *dir)
{
	static char block[1 << 20];
	char path[128];

	memset(block, 1, sizeof(block));
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/fill.%d", dir, i);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0)
			return contained("open: %s", strerror(errno));
		for (size_t done = 0; done < FILE_BYTES; done += sizeof(block)) {
			ssize_t n = write(fd, block, sizeof(block));

			if (n != sizeof(block))
				return contained("write: %s", n < 0 ? strerror(errno) : "short");
		}
		close(fd);
	}
	return escaped("%d MiB lie in %s", FILES * (FILE_BYTES >> 20), dir);
}

enum verdict res_tmp_files(void)
{
	return fill("/tmp");
}

enum verdict res_cwd_files(void)
{
	return fill(".");
}

enum verdict res_inodes(void)
{
	char path[64];

	for (int i = 0; i < INODES; i++) {
		snprintf(path, sizeof(path), "/tmp/inode.%d", i);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0)
			return contained("open: %s", strerror(errno));
		close(fd);
	}
	return escaped("%d files lie in /tmp", INODES);
}

enum verdict res_fd_bomb(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (int i = 0; i < 5000; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			return contained("open: %s", strerror(errno));
	return escaped("5000 descriptors are open");
}

enum verdict res_output_flood(void)
{
	static char block[1 << 16];

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 384; i++)
		if (write(2, block, sizeof(block)) < 0)
			return contained("write: %s", strerror(errno));
	return judged("wrote 24 MiB");
}
