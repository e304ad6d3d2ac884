/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on whoever reads what the guest leaves: traps in the tree that is exported and digested.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static void leave(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "attack: '%s': %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* given/inner lies there already: its parent becomes a link to the secret's directory. */
enum verdict plant_out_dirlink(void)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s", canary.secret);
	*strrchr(dir, '/') = 0;
	unlink("given.d/inner");
	rmdir("given.d");
	if (symlink(dir, "given.d"))
		return contained("no link: %s", strerror(errno));
	return judged("linked");
}

enum verdict plant_out_symlink(void)
{
	if (symlink(canary.secret, "link") || symlink("/proc/self/root", "root") ||
		symlink("../../../../../../../../etc", "up"))
		return contained("no link: %s", strerror(errno));
	return judged("linked");
}

enum verdict plant_out_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return contained("no socket: %s", strerror(errno));
	return judged("bound");
}

enum verdict plant_out_fifo(void)
{
	if (mkfifo("fifo", 0644))
		return contained("no fifo: %s", strerror(errno));
	return judged("made");
}

enum verdict plant_out_sparse(void)
{
	int fd = open("sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, 1LL << 40))
		return contained("no such file: %s", strerror(errno));
	if (pwrite(fd, "end", 3, (1LL << 40) - 3) != 3)
		return contained("no end: %s", strerror(errno));
	return judged("made");
}

enum verdict plant_out_badname(void)
{
	leave("-rf", "dash\n");
	leave("new\nline", "newline\n");
	leave("esc\033]0;owned\007", "escape\n");
	leave("not\xff\xfeutf8", "bytes\n");
	leave("quote\"\\back", "quote\n");
	return judged("made");
}

enum verdict plant_out_deep(void)
{
	for (int i = 0; i < 3000; i++)
		if (mkdir("d", 0755) || chdir("d"))
			return contained("level %d: %s", i, strerror(errno));
	leave("bottom", "x\n");
	return judged("made");
}

enum verdict plant_out_unreadable(void)
{
	leave("secretive", "x\n");
	chmod("secretive", 0);
	if (mkdir("closed", 0755) || mkdir("closed/inner", 0755))
		return contained("mkdir: %s", strerror(errno));
	leave("closed/inner/file", "x\n");
	chmod("closed/inner", 0);
	chmod("closed", 0);
	return judged("made");
}

/* A device 0:0 means a deletion to an overlay: may a guest forge one? */
enum verdict plant_out_whiteout(void)
{
	if (mknod("forged", S_IFCHR | 0600, makedev(0, 0)) == 0)
		return judged("made a whiteout");
	return contained("no whiteout: %s", strerror(errno));
}
