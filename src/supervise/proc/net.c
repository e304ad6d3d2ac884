/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket tables of /proc/PID/net. The kernel lists sockets in the order of its hashes, with
 * addresses of its memory and timers of the host's time; here they are sorted, and only what the
 * guest itself made of them is left. Connections that merely wait to be forgotten are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/files/inode.h"
#include "supervise/proc/make.h"

enum { STATE_TIME_WAIT = 6 };

/* What sockets are numbered by: the device of the file system that the kernel keeps them on. */
static uint64_t socket_number(uint64_t ino)
{
	static uint32_t major_nr, minor_nr;
	struct stat st;

	if (ino == 0)
		return 0;
	if (minor_nr == 0) {
		autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		if (fd >= 0 && fstat(fd, &st) == 0) {
			major_nr = major(st.st_dev);
			minor_nr = minor(st.st_dev);
		}
	}
	return inode_get_pair(major_nr, minor_nr, ino)->number;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Cuts the text into lines after the first, which is returned; sorted from the offset `key` on. */
static char *sorted_lines(char *text, size_t key, char ***ret_lines, size_t *ret_count)
{
	char *rest = text, *head = strsep(&rest, "\n"), *line = NULL, **lines = NULL;
	size_t count = 0, room = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (strlen(line) <= key)
			continue;
		if (count == room) {
			room = room == 0 ? 64 : room * 2;
			lines = mem_grow(lines, room, sizeof(*lines));
		}
		lines[count++] = line + key;
	}
	if (count != 0)
		qsort(lines, count, sizeof(*lines), compare);
	*ret_lines = lines;
	*ret_count = count;
	return head;
}

/* tcp, udp, raw and their forms for IPv6 */
int make_net_inet(const struct procfs_who *who, struct bytes *out)
{
	enum { NUMBER = sizeof("   0: ") - 1 };
	autofree char *text = NULL;
	autofree char **lines = NULL;
	size_t count = 0;
	unsigned shown = 0;

	if (procfs_native(who, &text) != 0)
		return -1;
	procfs_printf(out, "%s\n", sorted_lines(text, NUMBER, &lines, &count));
	for (size_t i = 0; i < count; i++) {
		char local[64], remote[64];
		unsigned state = 0, received = 0, uid = 0;
		uint64_t ino = 0;

		if (sscanf(lines[i], "%63s %63s %x %*x:%x %*x:%*x %*x %u %*d %" SCNu64, local,
			    remote, &state, &received, &uid, &ino) != 6 ||
			state == STATE_TIME_WAIT)
			continue;
		procfs_printf(out,
			"%4u: %s %s %02X 00000000:%08X 00:00000000 00000000 %5u        0 %" PRIu64
			" 1 0000000000000000 100 0 0 10 0\n",
			shown++, local, remote, state, received, uid, socket_number(ino));
	}
	return 0;
}

int make_net_unix(const struct procfs_who *who, struct bytes *out)
{
	autofree char *text = NULL;
	autofree char **lines = NULL;
	size_t count = 0;

	if (procfs_native(who, &text) != 0)
		return -1;
	procfs_printf(out, "%s\n", sorted_lines(text, 0, &lines, &count));
	/* By inode, which is the order in which they were made; there are few. */
	for (uint64_t last = 0;;) {
		const char *next = NULL;
		uint64_t least = UINT64_MAX, ino = 0;
		int fields = 0, name = 0;

		for (size_t i = 0; i < count; i++)
			if (sscanf(lines[i], "%*x: %*x %*x %*x %*x %*x %" SCNu64 "%n", &ino,
				    &name) == 1 &&
				ino > last && ino < least) {
				least = ino;
				next = lines[i];
				fields = name;
			}
		if (next == NULL)
			return 0;
		last = least;
		procfs_printf(out, "0000000000000000: %.35s %5" PRIu64 "%s\n",
			next + sizeof("0000000000000000: ") - 1, socket_number(least),
			next + fields);
	}
}
