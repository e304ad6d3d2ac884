/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Init of a virtual machine that runs the lines of /list, one after the other, and tells the
 * console what each printed.
 *
 * How it works: the kernel unpacks an archive whose directory /root is the machine's file system.
 * It is mounted over /, since pivot_root(2) refuses to leave the kernel's first file system. A line
 * is, between tabs: name, uid, seconds, directory, and the words of a command. The console is made
 * raw; for a line it gets "== NAME STATUS MS OUT ERR REPORT\n", the last three being the numbers of
 * bytes that follow: standard output, standard error, and REPORT below, which the command may have
 * written.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define REPORT "/tmp/report.json"

enum { WORDS = 40, SHOWN = 200000, TIMED_OUT = 1000, FIELDS = 4 };

static void die(const char *what)
{
	printf("=== init: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void mount_at(const char *type, const char *where, unsigned long flags, const char *data)
{
	mkdir(where, 0755);
	if (mount(type, where, type, flags, data) < 0)
		die(where);
}

/* Modules of the kernel's package, made plain by who packed the archive; in order of their names.
 */
static void load_modules(void)
{
	static const char *const modules[] = {"/modules/overlay.ko"};

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		int fd = open(modules[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && syscall(SYS_finit_module, fd, "", 0) < 0)
			die(modules[i]);
		close(fd);
	}
}

static void move_root(void)
{
	if (mount("/root", "/root", NULL, MS_BIND, NULL) < 0 || chdir("/root") < 0 ||
		mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 || chdir("/") < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("move the root");
}

static void raw_console(void)
{
	struct termios mode;
	const int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(1);
	if (tcgetattr(1, &mode) == 0) {
		cfmakeraw(&mode);
		tcsetattr(1, TCSANOW, &mode);
	}
}

/* As systemd does, so that a group for a run can be made. */
static void hand_down_controllers(void)
{
	static const char text[] = "+cpu +memory +pids";
	const int fd = open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		printf("=== init: control groups: %s\n", strerror(errno));
	close(fd);
}

static void set_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};

	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	raw_console();
	load_modules();
	move_root();
	mount_at("proc", "/proc", 0, NULL);
	mount_at("sysfs", "/sys", 0, NULL);
	mount_at("devtmpfs", "/dev", 0, NULL);
	mount_at("devpts", "/dev/pts", 0, "ptmxmode=0666");
	mount_at("tmpfs", "/dev/shm", 0, "mode=1777");
	mount_at("mqueue", "/dev/mqueue", 0, NULL);
	mount_at("tmpfs", "/tmp", 0, "mode=1777");
	mount_at("tmpfs", "/run", 0, "mode=0755");
	mount_at("cgroup2", "/sys/fs/cgroup", 0, NULL);
	hand_down_controllers();
	symlink("/proc/self/fd", "/dev/fd");
	if (ioctl(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), SIOCSIFFLAGS, &lo) < 0)
		die("loopback");
	sethostname("kernels", 7);
}

static int open_output(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static void child(uid_t uid, const char *dir, char **argv, int out, int err)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(open("/dev/null", O_RDWR), 0);
	dup2(out, 1);
	dup2(err, 2);
	if (chdir(dir) < 0 || (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
					      setresuid(uid, uid, uid) < 0)))
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* As a shell gives it; whatever else dies meanwhile is reaped. */
static int wait_for(pid_t pid, long long until)
{
	sigset_t chld;
	int status, result = -1;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	while (result < 0) {
		pid_t one = waitpid(-1, &status, WNOHANG);
		long long left = until - now_ms();

		if (one == pid) {
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		} else if (one <= 0 && left <= 0) {
			kill(-pid, SIGKILL);
			waitpid(pid, NULL, 0);
			result = TIMED_OUT;
		} else if (one <= 0) {
			sigtimedwait(&chld, NULL,
				&(struct timespec){left / 1000, left % 1000 * 1000000});
		}
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return result;
}

static size_t slurp(int fd, char *buf)
{
	ssize_t n = fd < 0 ? 0 : pread(fd, buf, SHOWN, 0);

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static void run(char **word)
{
	static char text[3][SHOWN];
	const uid_t uid = (uid_t)atoi(word[1]);
	const long long start = now_ms();
	int out = open_output("/run/out"), err = open_output("/run/err"), status;
	size_t len[3];
	pid_t pid;

	unlink(REPORT);
	pid = fork();
	if (pid == 0)
		child(uid, word[3], word + FIELDS, out, err);
	status = wait_for(pid, start + 1000ll * atoi(word[2]));
	len[0] = slurp(out, text[0]);
	len[1] = slurp(err, text[1]);
	len[2] = slurp(open(REPORT, O_RDONLY | O_CLOEXEC), text[2]);
	printf("== %s %d %lld %zu %zu %zu\n", word[0], status, now_ms() - start, len[0], len[1],
		len[2]);
	for (int i = 0; i < 3; i++)
		fwrite(text[i], 1, len[i], stdout);
	fflush(stdout);
}

int main(void)
{
	char line[4096];
	sigset_t chld;
	FILE *list;

	set_up();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TMPDIR", "/tmp", 1);
	umask(022);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	list = fopen("/list", "re");
	if (!list)
		die("/list");
	printf("=== up %lld\n", now_ms());
	while (fgets(line, sizeof(line), list)) {
		char *word[WORDS] = {NULL}, *rest = line;
		size_t count = 0;

		line[strcspn(line, "\n")] = '\0';
		while (count + 1 < WORDS && (word[count] = strsep(&rest, "\t")) != NULL)
			count++;
		if (count > FIELDS)
			run(word);
	}
	printf("=== end\n");
	fflush(stdout);
	tcdrain(1);
	return reboot(RB_POWER_OFF);
}
