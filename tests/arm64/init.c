/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Init of a virtual machine without any other program: runs each line of /list under the
 * supervisor, twice, and prints on the console what the guest printed and, after a '=', how it
 * ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/mem.h"
#include "wire/contract.h"
#include "wire/frame.h"

enum { CONTROL = 3 };

static void die(const char *what)
{
	printf("= %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* As launch leaves it to the supervisor: another user, and two capabilities. */
static void drop(void)
{
	static const int kept[] = {CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		caps[CAP_TO_INDEX(kept[i])].inheritable |= CAP_TO_MASK(kept[i]);
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		caps[i].effective = caps[i].permitted = caps[i].inheritable;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setresgid(1000, 1000, 1000) < 0 ||
		setresuid(1000, 1000, 1000) < 0 || syscall(SYS_capset, &header, caps) < 0)
		die("drop privileges");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0) < 0)
			die("ambient capabilities");
}

static int supervisor(void *arg)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	const int *sock = arg;

	if (ioctl(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), SIOCSIFFLAGS, &lo) < 0)
		die("loopback");
	if (mount("proc", "/proc", "proc", 0, NULL) < 0 || dup2(*sock, CONTROL) < 0)
		die("prepare the supervisor");
	drop();
	execl("/sandglass-supervise", "sandglass-supervise", "--init", (char *)NULL);
	die("supervisor");
	return 1;
}

/* FNV-1a: enough to see whether two streams of decisions differ. */
static uint64_t mix(uint64_t hash, const struct bytes *b)
{
	for (size_t i = 0; i < b->len; i++)
		hash = (hash ^ b->data[i]) * 0x100000001b3ull;
	return hash;
}

/* A frame whose payload is `skip` bytes and then a text. */
static void print_text(const char *what, const struct bytes *b, size_t skip)
{
	if (b->len >= skip)
		printf("= %s: %.*s\n", what, (int)(b->len - skip), (const char *)b->data + skip);
}

static void tell(uint32_t type, const struct bytes *b, uint64_t *decisions)
{
	if (type == FRAME_DECISIONS)
		*decisions = mix(*decisions, b);
	else if (type == FRAME_NOT_ENFORCED)
		print_text("not enforced", b, 12);
	else if (type == FRAME_ASSUMPTION)
		print_text("assumption", b, 8);
	else if (type == FRAME_FAILED)
		print_text("failed", b, 12);
	else if (type == FRAME_DEADLOCK)
		print_text("deadlock", b, 4);
	else if (type == FRAME_EXIT && b->len >= 8)
		printf("= exit %u %u\n", bytes_load_u32(b->data), bytes_load_u32(b->data + 4));
	fflush(stdout);
}

static char **one_string(const char *text)
{
	char **list = mem_array(2, sizeof(*list));

	list[0] = mem_strdup(text);
	return list;
}

static void listen_to(int sock, const char *program)
{
	auto_contract struct contract c = {0};
	struct conditions k = {.cpu = -1};
	auto_bytes struct bytes b = {0};
	uint64_t decisions = 0xcbf29ce484222325ull;
	struct error err = {0};
	uint32_t type;
	int r;

	contract_init(&c);
	c.argv = one_string(program);
	c.env = one_string("TZ=UTC");
	c.workdir = mem_strdup("/tmp");
	c.workflow_id = mem_strdup("sandbox");
	contract_encode(&b, &c, &k);
	r = frame_send(sock, FRAME_LAUNCH, b.data, b.len, &err);
	while (r >= 0 && (r = frame_recv(sock, &type, &b, &err)) == 1)
		tell(type, &b, &decisions);
	if (r < 0)
		printf("= %s\n", err.msg);
	printf("= decisions %016llx\n", (unsigned long long)decisions);
	fflush(stdout);
}

static void run(const char *program)
{
	static char stack[65536];
	int sock[2];
	pid_t pid;

	printf("== %s\n", program);
	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
		die("socketpair");
	pid = clone(supervisor, stack + sizeof(stack),
		CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | SIGCHLD, &sock[1]);
	if (pid < 0)
		die("clone");
	close(sock[1]);
	listen_to(sock[0], program);
	close(sock[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void set_up(void)
{
	const int out = open("/dev/console", O_WRONLY), in = open("/proc", O_RDONLY);

	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	if (mount("proc", "/proc", "proc", 0, NULL) < 0 ||
		mount("dev", "/dev", "devtmpfs", 0, NULL) < 0 ||
		mount("tmp", "/tmp", "tmpfs", 0, "mode=1777") < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("mount");
	dup2(open("/dev/null", O_RDWR), 0);
	fchmod(1, 0666);
}

int main(void)
{
	char line[256];
	FILE *list;

	set_up();
	list = fopen("/list", "re");
	while (list && fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		for (int i = 0; i < 2; i++)
			run(line);
	}
	printf("=== end\n");
	fflush(stdout);
	return reboot(RB_POWER_OFF);
}
