/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deny list of the guest as BPF: deny_build of deny.h. Everything else is allowed here; the
 * supervisor's own filter judges it. Where two filters disagree the kernel takes the stricter
 * answer, so nothing that the supervisor injects into a guest may be refused here: mmap, prctl,
 * arch_prctl, seccomp and the like.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "launch/deny.h"

_Static_assert(sizeof(struct contract_filter_insn) == sizeof(struct sock_filter), "same layout");

struct denied {
	const char *name;
	int number;
	uint32_t error;
};

static const struct denied denied[] = {
#define X(name, number, error) {#name, number, error},
#include "launch/seccomp.def"
#undef X
};

enum { SET_ID_BITS = S_ISUID | S_ISGID };

/* fchmodat2 is Linux 6.6; libseccomp 2.5 does not know it. */
enum { NR_FCHMODAT2 = 452 };

static void context_cleanup(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

/* libseccomp returns -errno. */
static int check(int result, const char *what, struct error *err)
{
	if (result >= 0)
		return 0;
	errno = -result;
	return error_sys(err, "add %s to the deny filter", what);
}

static int add_refused(scmp_filter_ctx ctx, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
		const struct denied *d = &denied[i];
		int nr = seccomp_syscall_resolve_name(d->name);

		if (nr == __NR_SCMP_ERROR)
			nr = d->number;
		/* A call that this architecture never had is a negative pseudo number. */
		if (nr < 0)
			continue;
		if (check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(d->error), nr, 0), d->name, err) < 0)
			return -1;
	}
	return 0;
}

static int add_clone(scmp_filter_ctx ctx, struct error *err)
{
	static const uint64_t flags[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
				  SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i])),
			    "clone", err) < 0)
			return -1;
	return 0;
}

/* Families other than unix, IPv4, IPv6 and netlink, which numbers run between and beyond. */
static int add_sockets(scmp_filter_ctx ctx, struct error *err)
{
	static const int calls[] = {SCMP_SYS(socket), SCMP_SYS(socketpair)};
	static const unsigned refused[] = {AF_UNSPEC, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15};
	_Static_assert(
		AF_UNIX == 1 && AF_INET == 2 && AF_INET6 == 10 && AF_NETLINK == 16, "numbers");

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		uint32_t action = SCMP_ACT_ERRNO(EAFNOSUPPORT);

		for (size_t j = 0; j < ARRAY_LEN(refused); j++)
			if (check(seccomp_rule_add(ctx, action, calls[i], 1,
					  SCMP_A0_32(SCMP_CMP_EQ, refused[j])),
				    "socket", err) < 0)
				return -1;
		if (check(seccomp_rule_add(
				  ctx, action, calls[i], 1, SCMP_A0_32(SCMP_CMP_GT, AF_NETLINK)),
			    "socket", err) < 0)
			return -1;
	}
	return 0;
}

/* Input pushed into a terminal is input typed by somebody else. */
static int add_ioctls(scmp_filter_ctx ctx, struct error *err)
{
	static const unsigned requests[] = {TIOCSTI, TIOCLINUX};

	/* The kernel looks at the low 32 bits alone, so the filter must too. */
	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		if (check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
				  SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, requests[i])),
			    "ioctl", err) < 0)
			return -1;
	return 0;
}

/* Init is of the guest's uid, which alone would let a guest starve it of descriptors or time. */
static int add_init(scmp_filter_ctx ctx, struct error *err)
{
	static const int calls[] = {SCMP_SYS(prlimit64), SCMP_SYS(sched_setscheduler),
		SCMP_SYS(sched_setparam), SCMP_SYS(sched_setattr), SCMP_SYS(sched_setaffinity),
		SCMP_SYS(migrate_pages), SCMP_SYS(move_pages)};
	/* PRIO_USER and IOPRIO_WHO_USER would mean init too. */
	static const struct {
		int number;
		unsigned process, user;
	} whos[] = {{SCMP_SYS(setpriority), PRIO_PROCESS, PRIO_USER}, {SCMP_SYS(ioprio_set), 1, 3}};
	const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (check(seccomp_rule_add(ctx, refuse, calls[i], 1, SCMP_A0_32(SCMP_CMP_EQ, 1)),
			    "init's limits", err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(whos); i++)
		if (check(seccomp_rule_add(ctx, refuse, whos[i].number, 2,
				  SCMP_A0_32(SCMP_CMP_EQ, whos[i].process),
				  SCMP_A1_32(SCMP_CMP_EQ, 1)),
			    "init's priority", err) < 0 ||
			check(seccomp_rule_add(ctx, refuse, whos[i].number, 1,
				      SCMP_A0_32(SCMP_CMP_EQ, whos[i].user)),
				"init's priority", err) < 0)
			return -1;
	return 0;
}

struct mode_call {
	int number;
	unsigned mode; /* index of the argument that holds it */
	int flags;     /* index of the open flags, without which it means nothing; or -1 */
};

static int add_mode_bit(
	scmp_filter_ctx ctx, const struct mode_call *c, uint64_t bit, struct error *err)
{
	static const uint64_t making[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
	struct scmp_arg_cmp mode = SCMP_CMP64(c->mode, SCMP_CMP_MASKED_EQ, bit, bit);

	if (c->flags < 0)
		return check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), c->number, 1, mode),
			"a set-id bit", err);
	for (size_t i = 0; i < ARRAY_LEN(making); i++) {
		struct scmp_arg_cmp flags =
			SCMP_CMP64((unsigned)c->flags, SCMP_CMP_MASKED_EQ, making[i], making[i]);

		if (check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), c->number, 2, mode, flags),
			    "a set-id bit", err) < 0)
			return -1;
	}
	return 0;
}

/* Nobody leaves a set-id program in a directory that the host sees. */
static int add_modes(scmp_filter_ctx ctx, struct error *err)
{
	static const struct mode_call calls[] = {
		{SCMP_SYS(chmod), 1, -1},
		{SCMP_SYS(fchmod), 1, -1},
		{SCMP_SYS(fchmodat), 2, -1},
		{NR_FCHMODAT2, 2, -1},
		{SCMP_SYS(creat), 1, -1},
		{SCMP_SYS(mknod), 1, -1},
		{SCMP_SYS(mknodat), 2, -1},
		{SCMP_SYS(open), 2, 1},
		{SCMP_SYS(openat), 3, 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (calls[i].number < 0)
			continue;
		if (add_mode_bit(ctx, &calls[i], S_ISUID, err) < 0 ||
			add_mode_bit(ctx, &calls[i], S_ISGID, err) < 0)
			return -1;
	}
	return 0;
}

static int export(
	scmp_filter_ctx ctx, struct contract_filter_insn **ret, size_t *ret_len, struct error *err)
{
	autoclose int fd = memfd_create("deny", MFD_CLOEXEC);
	enum { MAX_BYTES = CONTRACT_FILTER_MAX * sizeof(struct contract_filter_insn) };
	autofree char *data = NULL;
	size_t len;

	if (fd < 0)
		return error_sys(err, "make a memory file");
	if (check(seccomp_export_bpf(ctx, fd), "its code", err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "read the deny filter");
	if (fd_slurp(fd, MAX_BYTES, &data, &len, err) < 0)
		return error_wrap(err, "deny filter");
	*ret = mem_dup(data, len);
	*ret_len = len / sizeof(**ret);
	return 0;
}

int deny_build(struct contract_filter_insn **ret, size_t *ret_len, struct error *err)
{
	CLEANUP(context_cleanup) scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (!ctx)
		return error_set(err, ERR_SYSTEM, "libseccomp cannot start a filter");
	/* Other ABIs (int 0x80, x32) would walk around every number in both filters. */
	if (check(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)), "the ABI",
		    err) < 0 ||
		check(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "a tree", err) < 0)
		return -1;
	if (add_refused(ctx, err) < 0 || add_clone(ctx, err) < 0 || add_sockets(ctx, err) < 0 ||
		add_ioctls(ctx, err) < 0 || add_init(ctx, err) < 0 || add_modes(ctx, err) < 0)
		return -1;
	return export(ctx, ret, ret_len, err);
}
