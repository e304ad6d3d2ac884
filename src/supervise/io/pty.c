/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to terminals that guests make for each other: see pty.h.
 *
 * How it works: what is written to one end gets to the other through a worker of the kernel, in the
 * host's time. A poll of the other end that finds nothing waits for that worker, so nothing is left
 * on its way then; and a read until there is nothing (tty.c) takes all of it.
 *
 * Output, from the slave end, needs no more than that. Its room is counted here: how much the
 * kernel takes depends on how far the worker is.
 *
 * What is typed, into the master end, passes two workers: the line discipline of the slave end acts
 * on it (lines, signals), and its echo comes back. It is written in runs of plain characters and
 * single special ones. Where the other end had nothing to read and still has not, the poll waited
 * for all of that. Otherwise what the run does is known beforehand - so many characters more to
 * read, so many of echo - and is waited for. A key that edits or ends a line that is typed while
 * earlier lines are unread does neither: it is held back, in no time, until they are read or
 * everybody waits. Where nothing holds, the run is not enforced.
 */
#include "supervise/io/pty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/engine/clock.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "supervise/io/stream.h"
#include "supervise/report.h"

/* linux/major.h: a master end is /dev/ptmx */
enum { TTYAUX_MAJOR = 5, PTMX_MINOR = 2, PTS_FIRST = 136, PTS_LAST = 143 };

enum {
	PTYS = 1024,
	ROOM = 24 * 1024, /* of the kernel's 64 KiB, of which up to half is lost in its blocks */
	RUN = 1024,
	LDISC = 4095, /* what a line discipline holds */
	TRIES = 3000,
	HELD_BACK = -EBUSY, /* no error of a terminal's write */
};

/* An upper bound of what is on its way, by the slave's minor number: to the slave, to the master.
 */
static uint32_t on_way[PTYS][2];

bool pty_is_master(const struct gfd *g)
{
	return g->kind == FDKIND_TTY && g->st.st_rdev == makedev(TTYAUX_MAJOR, PTMX_MINOR);
}

void pty_opened(void)
{
	sched_signals_unseen();
}

/* The slave's device number, from either end and from /dev/tty. 0: it is no terminal. */
static unsigned device_of(int fd)
{
	unsigned device = 0;

	return ioctl(fd, TIOCGDEV, &device) < 0 ? 0 : device;
}

bool pty_is_background(const struct task *t, const struct gfd *g)
{
	char path[32], text[512];
	autoclose int fd = -1;
	const char *p;
	int group, terminal, foreground;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	p = text;
	for (const char *q = text; *q; q++) /* the name may hold anything */
		if (*q == ')')
			p = q;
	return sscanf(p, ") %*c %*d %d %*d %d %d", &group, &terminal, &foreground) == 3 &&
	       terminal && (unsigned)terminal == device_of(g->fd) && !pty_is_master(g) &&
	       foreground > 0 && foreground != group;
}

/* ---- the other end ---- */

static bool is_slave_number(unsigned major_nr)
{
	return major_nr >= PTS_FIRST && major_nr <= PTS_LAST;
}

/* This descriptor of p as ours, when it is the end that is looked for. */
static int take_end(struct process *p, int number, unsigned device, bool master)
{
	autoclose int fd = (int)syscall(SYS_pidfd_getfd, process_pidfd(p), number, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || device_of(fd) != device ||
		master != (st.st_rdev == makedev(TTYAUX_MAJOR, PTMX_MINOR)))
		return -1;
	return fd_take(&fd);
}

static int search(struct task *t, unsigned device, bool master)
{
	char path[32];
	struct dirent *entry;
	int found = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", t->tid);
	dir = opendir(path);
	while (dir && found < 0 && (entry = readdir(dir)) != NULL) {
		struct stat st;
		int number;

		if (sscanf(entry->d_name, "%d", &number) != 1 ||
			fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 || !S_ISCHR(st.st_mode))
			continue;
		if (major(st.st_rdev) == TTYAUX_MAJOR ||
			(!master && is_slave_number(major(st.st_rdev))))
			found = take_end(t->proc, number, device, master);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Whoever has it; ours to close within the stop. -1: nobody. */
static int other_end(const struct gfd *g)
{
	unsigned device = device_of(g->fd);
	bool master = !pty_is_master(g);
	int fd = -1;

	for (struct task *t = task_list; t && fd < 0; t = t->next)
		if (t->state != TASK_LEFT && (t->tid == t->proc->pid || t->proc->leader_gone))
			fd = search(t, device, master);
	return fd;
}

/* Something can be read. When not, what was on its way has come. */
static bool has_input(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static int queued(int fd)
{
	int count = 0;

	return ioctl(fd, FIONREAD, &count) < 0 ? 0 : count;
}

static void tell(void)
{
	const struct timespec while_it_works = {.tv_nsec = 1000000};

	nanosleep(&while_it_works, NULL);
	report_not_enforced(REASON_UNMODELLED, "a terminal of the guest's own (pty)");
}

/* Its worker is at it: a moment, and longer ones where the host is busy. */
static void give_time(int round)
{
	const struct timespec moment = {.tv_nsec = round < 100 ? 50000 : 1000000};

	if (round < 20)
		sched_yield();
	else
		nanosleep(&moment, NULL);
}

/* Waits until an end has this much to read, or is full. */
static bool wait_for(int fd, int count)
{
	count = count < LDISC ? count : LDISC;
	for (int i = 0; i < TRIES; i++) {
		if (queued(fd) >= count)
			return true;
		give_time(i);
	}
	return false;
}

static bool wait_for_nothing(int fd)
{
	for (int i = 0; i < TRIES; i++) {
		if (!has_input(fd))
			return true;
		give_time(i);
	}
	return false;
}

static ssize_t put(const struct gfd *g, const char *data, size_t len)
{
	ssize_t n;

	do
		n = write(g->fd, data, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* ---- what is typed ---- */

struct keyboard {
	struct gfd *master;
	int slave;
	struct termios mode;
	bool is_last; /* nobody will read: typed all the same */
};

static bool is_signal(const struct termios *m, unsigned char byte)
{
	return (m->c_lflag & ISIG) && byte &&
	       (byte == m->c_cc[VINTR] || byte == m->c_cc[VQUIT] || byte == m->c_cc[VSUSP]);
}

/* It makes the line discipline do something else than to store it. */
static bool is_special(const struct termios *m, unsigned char byte)
{
	if (is_signal(m, byte) || (byte == '\r' && (m->c_iflag & IGNCR)) ||
		(byte == 0xff && (m->c_iflag & PARMRK)) ||
		((m->c_iflag & IXON) && (byte == m->c_cc[VSTART] || byte == m->c_cc[VSTOP])))
		return true;
	if (!(m->c_lflag & ICANON))
		return false;
	for (int i = 0; i < NCCS; i++)
		if (m->c_cc[i] == byte && i != VMIN && i != VTIME)
			return true;
	return byte < ' ';
}

static bool ends_line(const struct termios *m, unsigned char byte)
{
	return (m->c_lflag & ICANON) && (byte == '\n' || (byte == '\r' && (m->c_iflag & ICRNL)));
}

/* How many characters of echo a byte makes; -1: who knows. */
static int echo_of(const struct termios *m, unsigned char byte)
{
	bool newline = byte == '\n' || (byte == '\r' && (m->c_iflag & ICRNL));
	int line = (m->c_oflag & OPOST) && (m->c_oflag & ONLCR) ? 2 : 1;

	if (newline && (ends_line(m, byte) || !is_special(m, byte)))
		return (m->c_lflag & ECHO) || ((m->c_lflag & ICANON) && (m->c_lflag & ECHONL))
			       ? line
			       : 0;
	if (!(m->c_lflag & ECHO))
		return 0;
	if (is_special(m, byte))
		return (m->c_lflag & ICANON) && byte == m->c_cc[VEOF] ? 0 : -1;
	if (byte == '\t')
		return (m->c_oflag & TABDLY) == XTABS ? -1 : 1;
	return (byte < ' ' || byte == 0x7f) && (m->c_lflag & ECHOCTL) ? 2 : 1;
}

static int echo_of_run(const struct termios *m, const char *data, size_t len)
{
	int sum = 0;

	for (size_t i = 0; i < len; i++) {
		int echo = echo_of(m, (unsigned char)data[i]);

		if (echo < 0)
			return -1;
		sum += echo;
	}
	return sum;
}

/* Nothing that can be looked at tells whether it has been acted on, while there is input. */
static bool is_unseen(const struct termios *m, unsigned char byte)
{
	return is_special(m, byte) && !ends_line(m, byte) &&
	       !(is_signal(m, byte) && !(m->c_lflag & NOFLSH));
}

/* A run of plain characters, or a special one. The bytes taken, HELD_BACK or a negative errno. */
static ssize_t type_run(const struct keyboard *k, const char *data, size_t len)
{
	const struct termios *m = &k->mode;
	unsigned char byte = (unsigned char)data[0];
	bool had = has_input(k->slave);
	int echo = echo_of_run(m, data, len), input = had ? queued(k->slave) : 0;
	int output = has_input(k->master->fd) ? queued(k->master->fd) : 0;
	ssize_t n = 0;

	if (had && is_unseen(m, byte) && !k->is_last)
		return HELD_BACK;
	n = put(k->master, data, len);

	if (n <= 0 || (!has_input(k->slave) && !had))
		return n;
	if (is_signal(m, byte) && !(m->c_lflag & NOFLSH)) {
		if (!wait_for_nothing(k->slave))
			tell();
		return n;
	}
	if (echo < 0 || (size_t)n != len || (had && is_unseen(m, byte))) {
		tell();
		return n;
	}
	/* Characters of a line are not counted before its end. */
	if (had && (!(m->c_lflag & ICANON) || ends_line(m, byte)))
		input += m->c_lflag & ICANON ? 1 : (int)n;
	if (!wait_for(k->slave, input) || (echo && !wait_for(k->master->fd, output + echo)))
		tell();
	return n;
}

static size_t run_length(const struct termios *m, const char *data, size_t len)
{
	size_t n = 0;

	while (n < len && n < RUN && !is_special(m, (unsigned char)data[n]))
		n++;
	return n ? n : 1;
}

/* ---- output ---- */

/* At most, with what the terminal makes of newlines and tabs. */
static uint32_t cost_of(char byte)
{
	return byte == '\n' ? 2 : byte == '\t' ? 8 : 1;
}

static size_t that_fit(const char *data, size_t len, uint32_t room)
{
	uint32_t cost = 0;
	size_t n = 0;

	while (n < len && cost + cost_of(data[n]) <= room)
		cost += cost_of(data[n++]);
	return n;
}

/* What the terminal makes of it, at least. */
static int length_of(const struct gfd *g, const char *data, ssize_t len)
{
	struct termios mode;
	int sum = (int)len;

	if (tcgetattr(g->fd, &mode) < 0 || !(mode.c_oflag & OPOST) || !(mode.c_oflag & ONLCR))
		return sum;
	for (ssize_t i = 0; i < len; i++)
		sum += data[i] == '\n';
	return sum;
}

static ssize_t put_out(struct gfd *g, int master, uint32_t *way, const char *data, size_t len)
{
	int before = has_input(master) ? queued(master) : 0;
	ssize_t n;

	if (!before)
		*way = 0;
	len = that_fit(data, len, ROOM - *way);
	n = len ? put(g, data, len) : -EAGAIN;
	for (ssize_t i = 0; i < n; i++)
		*way += cost_of(data[i]);
	if (n > 0 && has_input(master) && !wait_for(master, before + length_of(g, data, n)))
		tell();
	return n;
}

static ssize_t put_in(const struct keyboard *k, uint32_t *way, const char *data, size_t len)
{
	ssize_t n;

	if (!has_input(k->slave))
		*way = 0;
	len = run_length(&k->mode, data, len);
	if (*way + len > ROOM)
		return -EAGAIN;
	n = type_run(k, data, len);
	*way += n > 0 ? (uint32_t)n : 0;
	return n;
}

/* The kernel would stop the process, or fail: that is its to do. */
static bool is_held_back(struct task *t, const struct gfd *g)
{
	struct termios mode;

	return tcgetattr(g->fd, &mode) == 0 && (mode.c_lflag & TOSTOP) && pty_is_background(t, g) &&
	       !sigmask_is_off(t, SIGTTOU);
}

enum act pty_write(
	struct task *t, struct call *c, struct gfd *g, const struct giov *v, bool not_blocking)
{
	bool master = pty_is_master(g);
	autoclose int other = -1;
	struct keyboard k = {.master = g, .is_last = t->park.timed_out};
	uint64_t *progress = &t->park.progress;
	uint32_t *way = &on_way[minor(device_of(g->fd)) % PTYS][!master];

	if (!master && is_held_back(t, g))
		return ACT_NATIVE;
	k.slave = other = other_end(g);
	gfd_set_nonblock(g);
	while (*progress < v->total) {
		uint64_t rest = v->total - *progress;
		ssize_t n = giov_get(
			v, t, *progress, stream_chunk, rest < STREAM_CHUNK ? rest : STREAM_CHUNK);

		if (n > 0 && other < 0) {
			n = put(g, stream_chunk, (size_t)n);
			if (n > 0 && !(gfd_poll(g, POLLOUT) & POLLHUP))
				tell();
		} else if (n > 0 && master) {
			if (tcgetattr(other, &k.mode) < 0)
				return ACT_NATIVE;
			n = put_in(&k, way, stream_chunk, (size_t)n);
		} else if (n > 0) {
			n = put_out(g, other, way, stream_chunk, (size_t)n);
		}
		if (n == HELD_BACK)
			return park_on_until(t, PARK_FD, clock_monotonic() + 1);
		if (n == -EAGAIN && !not_blocking)
			return park_on(t, PARK_FD);
		if (n < 0 && *progress == 0)
			return n == -EAGAIN ? call_done(c, n) : ACT_NATIVE;
		if (n <= 0)
			break;
		*progress += (uint64_t)n;
		sched_moved();
	}
	sched_signals_changed();
	return call_done(c, (int64_t)*progress);
}
