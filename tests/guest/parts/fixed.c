/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a process is born with: mask, limits, environment, arguments, addresses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static void print_limits(void)
{
	static const struct {
		const char *name;
		__rlimit_resource_t id;
	} limits[] = {{"nofile", RLIMIT_NOFILE}, {"stack", RLIMIT_STACK}, {"core", RLIMIT_CORE},
		{"nproc", RLIMIT_NPROC}, {"memlock", RLIMIT_MEMLOCK}, {"as", RLIMIT_AS},
		{"fsize", RLIMIT_FSIZE}, {"nice", RLIMIT_NICE}, {"rtprio", RLIMIT_RTPRIO},
		{"sigpending", RLIMIT_SIGPENDING}, {"msgqueue", RLIMIT_MSGQUEUE}};
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		getrlimit(limits[i].id, &limit);
		printf("%s %ld %ld\n", limits[i].name, (long)limit.rlim_cur, (long)limit.rlim_max);
	}
}

/* Addresses depend on the host's kernel and libraries, so no fixed value is expected of them. */
static void print_addresses(char **argv)
{
	int local = 0;
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("stack %p, heap %p, brk %p, map %p, vdso %#lx, text %p, arguments %p, environment "
	       "%p\n",
		(void *)&local, malloc(16), sbrk(0), mapped, getauxval(AT_SYSINFO_EHDR),
		(void *)(unsigned long)getauxval(AT_ENTRY), (void *)argv[0], (void *)environ[0]);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		print_addresses(argv);
		return 0;
	}
	const mode_t mask = umask(0);
	printf("umask %03o\n", mask);
	print_limits();
	for (char **e = environ; *e; e++)
		printf("%s\n", *e);
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d is open\n", fd);
	printf("file name %s\n", (const char *)getauxval(AT_EXECFN));
	return 0;
}
