/* SPDX-License-Identifier: Apache-2.0 */
/* The deny filter of guests, installed in a process for each case and tried on the kernel. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/launch.h"

static void install(void)
{
	struct contract_filter_insn *code = NULL;
	struct sock_fprog program = {0};
	struct error err;
	size_t len;

	if (launch_deny_filter(&code, &len, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		_exit(200);
	}
	program.len = (unsigned short)len;
	program.filter = (struct sock_filter *)(void *)code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(201);
	free(code);
}

/* The errno of the call under the filter, 0 when it succeeded; the process is another one. */
static int errno_of(long nr, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		long result;

		install();
		errno = 0;
		result = syscall(nr, a, b, c, d, 0, 0);
		_exit(result < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) < 200);
	return WEXITSTATUS(status);
}

static void kernel_surface_is_refused(void **state)
{
	(void)state;
	assert_int_equal(errno_of(425, 1, 0, 0, 0), ENOSYS); /* io_uring_setup */
	assert_int_equal(errno_of(SYS_bpf, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_perf_event_open, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_userfaultfd, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_kexec_load, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_finit_module, -1, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_reboot, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_keyctl, 0, 0, 0, 0), ENOSYS);
	assert_int_equal(errno_of(SYS_add_key, 0, 0, 0, 0), ENOSYS);
	assert_int_equal(errno_of(SYS_settimeofday, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_clock_settime, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_open_by_handle_at, 0, 0, 0, 0), EPERM);
}

static void mounts_and_namespaces_are_refused(void **state)
{
	(void)state;
	assert_int_equal(errno_of(SYS_mount, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_umount2, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_pivot_root, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_open_tree, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_mount_setattr, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_unshare, CLONE_NEWUSER, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_setns, 0, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_clone3, 0, 0, 0, 0), ENOSYS);
	assert_int_equal(errno_of(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_clone, CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, 0, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_clone, SIGCHLD, 0, 0, 0), 0);
}

static void families_other_than_four_are_refused(void **state)
{
	static const int allowed[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

	(void)state;
	for (int family = 0; family < 64; family++) {
		bool good = false;
		int type = family == AF_NETLINK ? SOCK_RAW : SOCK_DGRAM;

		for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
			good = good || allowed[i] == family;
		assert_int_equal(errno_of(SYS_socket, (unsigned long)family, type, 0, 0),
			good ? 0 : EAFNOSUPPORT);
	}
	/* The kernel takes the low 32 bits for the family. */
	assert_int_equal(
		errno_of(SYS_socket, 0x100000000ul | AF_PACKET, SOCK_DGRAM, 0, 0), EAFNOSUPPORT);
}

static void input_cannot_be_pushed_into_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(errno_of(SYS_ioctl, 0, TIOCSTI, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_ioctl, 0, 0x100000000ul | TIOCSTI, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_ioctl, 0, TIOCLINUX, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_ioctl, -1ul, TIOCGWINSZ, 0, 0), EBADF);
}

static void set_id_bits_are_refused(void **state)
{
	static const char path[] = "/tmp/sandglass-deny-test";
	unsigned long p = (unsigned long)path, at = (unsigned long)AT_FDCWD;
	unsigned long making = O_WRONLY | O_CREAT;

	(void)state;
	assert_int_equal(errno_of(SYS_openat, at, p, making, 04755), EPERM);
	assert_int_equal(errno_of(SYS_openat, at, p, making, 02755), EPERM);
	assert_int_equal(
		errno_of(SYS_openat, at, (unsigned long)"/tmp", O_WRONLY | O_TMPFILE, 04700),
		EPERM);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(errno_of(SYS_openat, at, p, making, 0644), 0);
	/* Without O_CREAT the mode is whatever the register holds. */
	assert_int_equal(errno_of(SYS_openat, at, p, O_WRONLY, 04755), 0);
	assert_int_equal(errno_of(SYS_fchmodat, at, p, 04755, 0), EPERM);
	assert_int_equal(errno_of(SYS_fchmodat, at, p, 02755, 0), EPERM);
	assert_int_equal(errno_of(SYS_fchmodat, at, p, 0755, 0), 0);
	assert_int_equal(errno_of(SYS_fchmodat, at, p, 01644, 0), 0);
	assert_int_equal(errno_of(SYS_fchmod, -1ul, 04755, 0, 0), EPERM);
	assert_int_equal(errno_of(452, at, p, 04755, 0), EPERM); /* fchmodat2 */
#ifdef SYS_chmod
	assert_int_equal(errno_of(SYS_chmod, p, 04755, 0, 0), EPERM);
	assert_int_equal(errno_of(SYS_mknod, p, S_IFREG | 04755, 0, 0), EPERM);
#endif
	unlink(path);
}

/* What the supervisor has its guests do may never be refused. */
static void injected_calls_pass(void **state)
{
	(void)state;
	assert_int_equal(errno_of(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS), 0);
	assert_int_equal(errno_of(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0), 0);
	assert_int_equal(errno_of(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, 0, 0), EFAULT);
#ifdef SYS_arch_prctl
	assert_int_equal(errno_of(SYS_arch_prctl, 0x1011, 0, 0, 0), 0); /* ARCH_GET_CPUID */
#endif
	assert_int_equal(errno_of(SYS_getpid, 0, 0, 0, 0), 0);
	assert_int_equal(errno_of(SYS_ptrace, 0xffff, 0, 0, 0), ESRCH);
}

#ifdef __x86_64__
static void foreign_abis_do_not_exist(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		long result;

		install();
		/* getpid of i386, then of x32. */
		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(20l)
				 : "memory", "r8", "r9", "r10", "r11");
		if ((int)result != -ENOSYS)
			_exit(1);
		_exit(syscall(0x40000000 | SYS_getpid) == -1 && errno == ENOSYS ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_surface_is_refused),
		cmocka_unit_test(mounts_and_namespaces_are_refused),
		cmocka_unit_test(families_other_than_four_are_refused),
		cmocka_unit_test(input_cannot_be_pushed_into_a_terminal),
		cmocka_unit_test(set_id_bits_are_refused),
		cmocka_unit_test(injected_calls_pass),
#ifdef __x86_64__
		cmocka_unit_test(foreign_abis_do_not_exist),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
