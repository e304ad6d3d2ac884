/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the supervisor in the tests of launch: it obeys one command a message on
 * descriptor 3, from inside the container, and answers "ok ...", or "errno NAME".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"

enum { CONTROL = 3, REPLY = 60000 };

static char reply[REPLY + 1];

static void say(const char *fmt, ...) PRINTF_LIKE(1, 2);
static void say(const char *fmt, ...)
{
	size_t len = strlen(reply);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reply + len, sizeof(reply) - len, fmt, ap);
	va_end(ap);
}

static void say_result(long result)
{
	if (result < 0)
		say("errno %s", strerrorname_np(errno));
	else
		say("ok");
}

/* A number of the test's own. */
static long number_in(const char *s, int base)
{
	long n = 0;

	for (; *s >= '0' && *s < '0' + base; s++)
		n = n * base + (*s - '0');
	return n;
}

static long number(const char *s)
{
	return number_in(s, 10);
}

static void do_ids(char **a)
{
	gid_t groups[64];
	char name[64] = "";
	struct utsname u;

	(void)a;
	uname(&u);
	(void)!getdomainname(name, sizeof(name));
	say("ok uid %u gid %u groups %d pid %d sid %d host %s domain %s", getuid(), getgid(),
		getgroups(64, groups), getpid(), getsid(0), u.nodename, name);
}

static void do_cat(char **a)
{
	int fd = open(a[1], O_RDONLY | O_CLOEXEC);
	ssize_t n;
	size_t len;

	if (fd < 0) {
		say_result(-1);
		return;
	}
	say("ok ");
	len = strlen(reply);
	while ((n = read(fd, reply + len, REPLY - len)) > 0)
		len += (size_t)n;
	reply[len] = '\0';
	close(fd);
}

static void do_write(char **a)
{
	int fd = open(a[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	say_result(fd < 0 ? -1 : write(fd, a[2], strlen(a[2])));
	if (fd >= 0)
		close(fd);
}

static void do_open(char **a)
{
	int fd = open(a[1], (strcmp(a[2], "w") == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);

	say_result(fd);
	if (fd >= 0)
		close(fd);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void do_ls(char **a)
{
	DIR *d = opendir(a[1]);
	struct dirent *e;
	char *names[4096];
	size_t n = 0;

	if (!d) {
		say_result(-1);
		return;
	}
	while (n < ARRAY_LEN(names) && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			names[n++] = strdup(e->d_name);
	closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	say("ok");
	for (size_t i = 0; i < n; i++) {
		say(" %s", names[i]);
		free(names[i]);
	}
}

static void do_stat(char **a)
{
	struct stat st;

	if (lstat(a[1], &st) < 0)
		say_result(-1);
	else
		say("ok mode %o uid %u gid %u size %lld rdev %u:%u", st.st_mode, st.st_uid,
			st.st_gid, (long long)st.st_size, major(st.st_rdev), minor(st.st_rdev));
}

static void do_readlink(char **a)
{
	char target[4096];
	ssize_t n = readlink(a[1], target, sizeof(target) - 1);

	if (n < 0)
		say_result(-1);
	else
		say("ok %.*s", (int)n, target);
}

static void do_statfs(char **a)
{
	struct statfs s;

	if (statfs(a[1], &s) < 0)
		say_result(-1);
	else
		say("ok bytes %llu inodes %llu", (unsigned long long)s.f_blocks * s.f_bsize,
			(unsigned long long)s.f_files);
}

static void do_flags(char **a)
{
	char line[8192], point[4096], options[4096];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	(void)a;
	say("ok");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %*s %4095s %4095s", point, options) == 2)
			say("\n%s %s", point, options);
	if (f)
		fclose(f);
}

static void do_ifaces(char **a)
{
	struct if_nameindex *list = if_nameindex();
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)a;
	say("ok");
	for (struct if_nameindex *i = list; i && i->if_name; i++) {
		struct ifreq req = {0};

		snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", i->if_name);
		(void)!ioctl(sock, SIOCGIFFLAGS, &req);
		say(" %s:%s", i->if_name, req.ifr_flags & IFF_UP ? "up" : "down");
	}
	if_freenameindex(list);
	close(sock);
}

static void do_mkdir(char **a)
{
	say_result(mkdir(a[1], 0755));
}

static void do_unlink(char **a)
{
	say_result(unlink(a[1]));
}

static void do_rmdir(char **a)
{
	say_result(rmdir(a[1]));
}

static void do_rename(char **a)
{
	say_result(rename(a[1], a[2]));
}

static void do_chmod(char **a)
{
	say_result(chmod(a[1], (mode_t)number_in(a[2], 8)));
}

static void do_mount(char **a)
{
	say_result(mount("none", a[1], "tmpfs", 0, NULL));
}

static void do_umount(char **a)
{
	say_result(umount2(a[1], MNT_DETACH));
}

static void do_userns(char **a)
{
	(void)a;
	say_result(unshare(CLONE_NEWUSER));
}

/* Seizes a child that made itself non-dumpable, as init must be able to. */
static void do_seize(char **a)
{
	pid_t child = fork();
	long result;

	(void)a;
	if (child == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
	result = ptrace(PTRACE_SEIZE, child, 0, 0);
	say_result(result);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The pid of a new process. */
static void do_fork(char **a)
{
	pid_t child = fork();

	(void)a;
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	say("ok %d", child);
}

static void do_forks(char **a)
{
	static pid_t children[2000];
	int n = 0, want = number(a[1]) > 2000 ? 2000 : (int)number(a[1]);

	for (; n < want; n++) {
		children[n] = fork();
		if (children[n] == 0)
			for (;;)
				pause();
		if (children[n] < 0)
			break;
	}
	say("ok %d", n);
	for (int i = 0; i < n; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

/* Lets a child touch this much memory and tells how that ended. */
static void do_touch(char **a)
{
	size_t len = (size_t)number(a[1]) << 20;
	pid_t child = fork();
	int status;

	if (child == 0) {
		char *p = malloc(len);

		for (size_t i = 0; p && i < len; i += 4096)
			((volatile char *)p)[i] = 1;
		_exit(p ? 0 : 1);
	}
	waitpid(child, &status, 0);
	say("ok %s %d", WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void do_exec(char **a)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		char *env[] = {NULL};

		execve(a[1], a + 1, env);
		_exit(errno == ENOENT ? 127 : 126);
	}
	waitpid(child, &status, 0);
	say("ok %s %d", WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void do_world(char **a)
{
	char cwd[256] = "";
	sigset_t mask;
	int blocked = 0, ignored = 0;

	(void)a;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < _NSIG; s++) {
		struct sigaction sa;

		blocked += sigismember(&mask, s) == 1;
		ignored += sigaction(s, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL;
	}
	say("ok cwd %s blocked %d ignored %d nnp %d umask %o", getcwd(cwd, sizeof(cwd)), blocked,
		ignored, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), umask(022));
}

static void do_exit(char **a)
{
	_exit((int)number(a[1]));
}

static const struct {
	const char *name;
	int args;
	void (*run)(char **args);
} commands[] = {
	{"ids", 0, do_ids},
	{"cat", 1, do_cat},
	{"write", 2, do_write},
	{"open", 2, do_open},
	{"ls", 1, do_ls},
	{"stat", 1, do_stat},
	{"readlink", 1, do_readlink},
	{"statfs", 1, do_statfs},
	{"mounts", 0, do_flags},
	{"ifaces", 0, do_ifaces},
	{"mkdir", 1, do_mkdir},
	{"unlink", 1, do_unlink},
	{"rmdir", 1, do_rmdir},
	{"rename", 2, do_rename},
	{"chmod", 2, do_chmod},
	{"mount", 1, do_mount},
	{"umount", 1, do_umount},
	{"userns", 0, do_userns},
	{"seize", 0, do_seize},
	{"fork", 0, do_fork},
	{"forks", 1, do_forks},
	{"touch", 1, do_touch},
	{"exec", 1, do_exec},
	{"world", 0, do_world},
	{"exit", 1, do_exit},
};

static void obey(char *line)
{
	char *args[16] = {0};
	int n = 0;

	for (char *p = strtok_r(line, " ", &line); p && n < 15; p = strtok_r(NULL, " ", &line))
		args[n++] = p;
	reply[0] = '\0';
	for (size_t i = 0; n > 0 && i < ARRAY_LEN(commands); i++)
		if (strcmp(args[0], commands[i].name) == 0 && n - 1 >= commands[i].args) {
			commands[i].run(args);
			return;
		}
	say("no such command");
}

static void nudged(int sig)
{
	(void)sig;
	(void)!send(CONTROL, "nudged", 6, 0);
}

int main(int argc, char **argv, char **env)
{
	char line[8192];
	ssize_t n;

	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = nudged, .sa_flags = SA_RESTART}, NULL);
	say("ready argc %d argv %s %s env %s", argc, argv[0], argc > 1 ? argv[1] : "",
		env[0] ? env[0] : "none");
	(void)!send(CONTROL, reply, strlen(reply), 0);
	while ((n = recv(CONTROL, line, sizeof(line) - 1, 0)) > 0) {
		line[n] = '\0';
		obey(line);
		(void)!send(CONTROL, reply, strlen(reply), 0);
	}
	return 0;
}
