/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of launch: see launch_box.h. */
#include "launch_box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

const char *box_probe;
char box_dir[64];
static int probe_fd = -1;

void box_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	_exit(1);
}

void box_skip(const char *why)
{
	fprintf(stderr, "# skipped: %s\n", why);
	_exit(BOX_SKIPPED);
}

void box_check_text(const char *file, int line, const char *got, const char *expected)
{
	if (strcmp(got, expected) == 0)
		return;
	fprintf(stderr, "%s:%d: got '%s', expected '%s'\n", file, line, got, expected);
	_exit(1);
}

static int count_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/* Control groups of the process pid, anywhere in the usual place. */
static int count_groups(const char *dir, pid_t pid, int depth)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char prefix[64], path[4096];
	int n = 0;

	snprintf(prefix, sizeof(prefix), "sandglass-%d-", (int)pid);
	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (depth < 5)
			n += count_groups(path, pid, depth + 1);
	}
	if (d)
		closedir(d);
	return n;
}

int box_groups_of(pid_t pid)
{
	return count_groups("/sys/fs/cgroup", pid, 0);
}

static void enter_case(void (*body)(void), bool rootless)
{
	if (rootless && geteuid() == 0 &&
		(setgroups(0, NULL) < 0 || setresgid(BOX_UID, BOX_UID, BOX_UID) < 0 ||
			setresuid(BOX_UID, BOX_UID, BOX_UID) < 0))
		box_fail(__FILE__, __LINE__, strerror(errno));
	/* The change of ids took it away; a program that is started as that user has it. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	body();
	_exit(0);
}

/* What the case left running; as subreaper we are its parent now. */
static int reap_orphans(void)
{
	int n = 0, status;
	pid_t pid;

	/* The first is told by number; those beneath it die with it. */
	while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) >= 0) {
		n++;
		if (pid == 0 && n > 100)
			break;
		if (pid == 0)
			usleep(10000);
	}
	return n;
}

static void remove_tree(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static bool report(bool good, const char *what, int got)
{
	if (!good)
		fprintf(stderr, "the case left %s: %d\n", what, got);
	return good;
}

static int run_case(void (*body)(void), bool rootless)
{
	int mounts = count_lines("/proc/self/mountinfo"), status, orphans;
	bool good = true;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (probe_fd < 0)
		probe_fd = open(box_probe, O_RDONLY | O_CLOEXEC);
	snprintf(box_dir, sizeof(box_dir), "/tmp/sandglass-test-XXXXXX");
	if (probe_fd < 0 || !mkdtemp(box_dir) || chmod(box_dir, 0755) < 0 ||
		(rootless && geteuid() == 0 && chown(box_dir, BOX_UID, BOX_UID) < 0)) {
		perror("set the case up");
		return BOX_FAILED;
	}
	pid = fork();
	if (pid == 0)
		enter_case(body, rootless);
	waitpid(pid, &status, 0);
	good = report(status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == BOX_SKIPPED),
		       "its wait status", status) &&
	       good;
	orphans = reap_orphans();
	good = report(orphans == 0, "processes", orphans) && good;
	good = report(geteuid() != 0 || count_lines("/proc/self/mountinfo") == mounts, "mounts",
		       count_lines("/proc/self/mountinfo") - mounts) &&
	       good;
	good = report(box_groups_of(pid) == 0, "control groups", box_groups_of(pid)) && good;
	remove_tree(box_dir);
	return !good ? BOX_FAILED : status ? BOX_SKIPPED : 0;
}

static int run_as(const struct box_case *c, enum box_who who, int number)
{
	const char *as = who == BOX_ROOTLESS ? "rootless" : "as_root";
	int result;

	if (who == BOX_AS_ROOT && geteuid() != 0) {
		printf("ok %d - %s_%s # SKIP not root\n", number, c->name, as);
		return 0;
	}
	fflush(stdout);
	result = run_case(c->body, who == BOX_ROOTLESS);
	printf("%sok %d - %s_%s%s\n", result == BOX_FAILED ? "not " : "", number, c->name, as,
		result == BOX_SKIPPED ? " # SKIP this host cannot try it" : "");
	return result == BOX_FAILED;
}

int box_main(int argc, char **argv, const struct box_case *cases, size_t count)
{
	int number = 0, failed = 0;

	if (argc != 2)
		return 2;
	box_probe = argv[1];
	/* Mounts are counted: those that others make on this machine meanwhile do not belong to it.
	 */
	if (geteuid() == 0 &&
		(unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
		return 2;
	for (size_t i = 0; i < count; i++) {
		if (cases[i].who & BOX_AS_ROOT)
			failed += run_as(&cases[i], BOX_AS_ROOT, ++number);
		if (cases[i].who & BOX_ROOTLESS)
			failed += run_as(&cases[i], BOX_ROOTLESS, ++number);
	}
	printf("1..%d\n", number);
	return failed ? 1 : 0;
}

void box_init(struct box *b)
{
	memset(b, 0, sizeof(*b));
	contract_init(&b->contract);
	b->contract.workdir = mem_strdup("/tmp");
	b->control = -1;
}

void box_bind(struct box *b, const char *source, const char *dest, bool writable)
{
	b->binds[b->contract.bind_count++] = (struct contract_bind){
		.source = mem_strdup(source), .dest = mem_strdup(dest), .writable = writable};
	b->contract.binds = b->binds;
}

int box_try(struct box *b, struct error *err)
{
	struct launch_spec spec = {
		.contract = &b->contract, .supervisor = probe_fd, .stdio = {b->input, 1, 2}};
	int pair[2], result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		box_fail(__FILE__, __LINE__, "socketpair");
	spec.control = pair[1];
	b->control = pair[0];
	result = launch_start(&spec, &b->launch, err);
	close(pair[1]);
	return result;
}

static void receive(struct box *b)
{
	struct pollfd p = {.fd = b->control, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, 20000) <= 0)
		box_fail(__FILE__, __LINE__, "no answer within 20 s");
	n = recv(b->control, b->reply, sizeof(b->reply) - 1, 0);
	if (n <= 0)
		snprintf(b->reply, sizeof(b->reply), "gone");
	else
		b->reply[n] = '\0';
}

void box_start(struct box *b)
{
	struct error err = {0};

	if (box_try(b, &err) < 0)
		box_fail(__FILE__, __LINE__, err.msg);
	receive(b);
	snprintf(b->hello, sizeof(b->hello), "%.255s", b->reply);
}

const char *box_ask(struct box *b, const char *fmt, ...)
{
	char line[8192];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (send(b->control, line, (size_t)n, MSG_NOSIGNAL) < 0)
		box_fail(__FILE__, __LINE__, "the probe is gone");
	receive(b);
	return b->reply;
}

int box_wait(struct box *b)
{
	struct error err = {0};
	int status = -1;

	close(b->control);
	b->control = -1;
	if (launch_wait(b->launch, &status, &err) < 0)
		box_fail(__FILE__, __LINE__, err.msg);
	return status;
}

void box_finish(struct box *b)
{
	if (b->control >= 0)
		close(b->control);
	launch_free(b->launch);
	b->contract.binds = NULL;
	for (size_t i = 0; i < b->contract.bind_count; i++) {
		free(b->binds[i].source);
		free(b->binds[i].dest);
	}
	b->contract.bind_count = 0;
	contract_finish(&b->contract);
}

const char *box_path(const char *fmt, ...)
{
	static char paths[4][512];
	static unsigned turn;
	char *path = paths[turn++ % 4], name[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(paths[0]), "%s/%s", box_dir, name);
	return path;
}

void box_file(const char *text, const char *fmt, ...)
{
	char name[400], path[512];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/%s", box_dir, name);
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		box_fail(__FILE__, __LINE__, path);
}

const char *box_read(int dir, const char *path)
{
	static char text[4096];
	int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}
