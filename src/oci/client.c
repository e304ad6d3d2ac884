/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime's client as a process: see client.h. */
#include "oci/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/temp.h"

enum { TEXT_MAX = 16 << 20, COMPLAINT_MAX = 380, ANSWER_MS = 60000 };

static NORETURN void child(const struct client *c, char *const *argv, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent || null < 0 || setsid() < 0 || dup2(null, 0) < 0 ||
		dup2(c->out, 1) < 0 || dup2(c->err, 2) < 0)
		_exit(125);
	syscall(SYS_close_range, 3u, ~0u, 0u);
	execvp(argv[0], argv);
	(void)!write(2, "cannot be executed\n", 19);
	_exit(errno == ENOENT ? 127 : 126);
}

int client_start(struct client *ret, char *const *argv, struct error *err)
{
	auto_client struct client c = CLIENT_NONE;
	pid_t parent = getpid();

	if (temp_open(&c.out, err) < 0 || temp_open(&c.err, err) < 0)
		return -1;
	c.pid = fork();
	if (c.pid == 0)
		child(&c, argv, parent);
	if (c.pid < 0) {
		c.pid = 0;
		return error_sys(err, "fork");
	}
	c.pidfd = (int)syscall(SYS_pidfd_open, c.pid, 0);
	if (c.pidfd < 0)
		return error_sys(err, "pidfd_open");
	*ret = c;
	c = CLIENT_NONE;
	return 0;
}

static void reap(struct client *c)
{
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
}

int client_wait(struct client *c, int timeout_ms, struct error *err)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
	int r;

	if (c->pid == 0)
		return 1;
	do
		r = poll(&p, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_sys(err, "wait for the runtime's client");
	if (r > 0)
		reap(c);
	return r;
}

void client_finish(struct client *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		reap(c);
	}
	fd_close(&c->pidfd);
	fd_close(&c->out);
	fd_close(&c->err);
}

int client_text(int fd, char **ret, struct error *err)
{
	size_t len;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "read what the runtime's client wrote");
	return fd_slurp(fd, TEXT_MAX, ret, &len, err);
}

/* The first line that is neither empty nor a warning; what every client puts before is cut. */
char *client_complaint(const struct client *c)
{
	static const char *const starts[] = {"docker: ", "Error response from daemon: ", "Error: ",
		"error during connect: ", "FATA[0000] "};
	autofree char *text = NULL;
	char *rest, *line;
	struct error ignored;

	if (client_text(c->err, &text, &ignored) < 0)
		return mem_strdup("its output cannot be read");
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		size_t len;

		if (line[0] == '\0' || strncmp(line, "WARNING", 7) == 0)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(starts); i++)
			if (str_has_prefix(line, starts[i]))
				line += strlen(starts[i]);
		len = strlen(line);
		while (len > 0 && (line[len - 1] == '.' || line[len - 1] == '\r'))
			len--;
		return str_printable(line, len, COMPLAINT_MAX);
	}
	return mem_strdup("it says nothing about why");
}

int client_ask(char *const *argv, char **ret_out, struct error *err)
{
	auto_client struct client c = CLIENT_NONE;
	const char *name = path_basename(argv[0]);
	int r;

	if (client_start(&c, argv, err) < 0)
		return -1;
	r = client_wait(&c, ANSWER_MS, err);
	if (r < 0)
		return -1;
	if (r == 0)
		return error_set(err, ERR_UNSUPPORTED, "%s did not answer within %d seconds", name,
			ANSWER_MS / 1000);
	if (!WIFEXITED(c.status) || WEXITSTATUS(c.status) != 0) {
		autofree char *why = client_complaint(&c);

		return error_set(err, ERR_UNSUPPORTED, "%s: %s", name, why);
	}
	return client_text(c.out, ret_out, err);
}
