/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the network: see network.h. A process of ours sends many bytes to whoever sends it a
 * line; bash and cat fetch them. A run without --record keeps a tape too, among the last ones.
 */
#include "network.h"

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "process.h"

enum { DOWNLOAD = 100 * 1000 * 1000, PIECE = 1 << 20 };

static void serve(int listener)
{
	autofree char *piece = mem_alloc(PIECE);
	struct error e;
	char line[16];

	memset(piece, 'x', PIECE);
	for (;;) {
		autoclose int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 || read(fd, line, sizeof(line)) <= 0)
			continue;
		for (int left = DOWNLOAD; left > 0; left -= PIECE)
			if (fd_write_all(fd, piece, left < PIECE ? (size_t)left : PIECE, &e) < 0)
				break;
	}
}

/* On a port of its own choice; the process that serves it. */
static pid_t start_server(int *ret_port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(in);
	pid_t pid;

	if (fd < 0 || bind(fd, (struct sockaddr *)&in, len) < 0 || listen(fd, 8) < 0 ||
		getsockname(fd, (struct sockaddr *)&in, &len) < 0)
		err(2, "a server");
	*ret_port = ntohs(in.sin_port);
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		serve(fd);
	}
	return pid;
}

static bool print_size(const char *tape)
{
	char measured[64];
	struct stat st;

	if (stat(tape, &st) < 0)
		return print_failed("size of that tape", "at most 1.05x");
	snprintf(measured, sizeof(measured), "%.3fx", (double)st.st_size / DOWNLOAD);
	print_row("size of that tape", "at most 1.05x its bytes", measured,
		(double)st.st_size <= 1.05 * DOWNLOAD);
	return (double)st.st_size <= 1.05 * DOWNLOAD;
}

bool network_rows(const struct bench *b)
{
	struct least plain = {0}, recorded = {0}, replayed = {0}, native = {0};
	autofree char *tape = str_format("%s.tape", b->dir), *allow = NULL, *fetch = NULL;
	int port = 0;
	pid_t server = start_server(&port);
	bool met;

	allow = str_format("allow=127.0.0.1:%d", port);
	fetch = str_format("exec 3<>/dev/tcp/127.0.0.1/%d; echo >&3; cat <&3 >/dev/null", port);
	const char *const natively[] = {"bash", "-c", fetch, NULL},
			  *const run[] = {b->sandglass, "run", "--network", allow, "--", "bash",
				  "-c", fetch, NULL},
			  *const record[] = {b->sandglass, "run", "--network", allow, "--record",
				  tape, "--", "bash", "-c", fetch, NULL},
			  *const replay[] = {b->sandglass, "replay", tape, NULL};

	for (int i = 0; i < b->rounds; i++) {
		least_add(&native, process_time(natively, b->dir, NULL));
		least_add(&plain, process_time(run, b->dir, NULL));
		least_add(&recorded, process_time(record, b->dir, NULL));
		least_add(&replayed, process_time(replay, b->dir, NULL));
	}
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	met = print_ratio("100 MB downloaded with --record", 1.5, &recorded, "without", &plain);
	met = print_ratio("replay of that", 1.0, &replayed, "recording", &recorded) && met;
	met = print_size(tape) && met;
	if (!native.failed && !plain.failed) {
		char measured[64];

		snprintf(measured, sizeof(measured), "%.1fx", (double)plain.ns / (double)native.ns);
		print_comparison(
			"that download inside, beside the same command natively", measured);
	}
	unlink(tape);
	return met;
}
