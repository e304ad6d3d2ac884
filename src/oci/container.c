/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container of a runtime: oci_start of oci.h.
 *
 * How it works. The stage is made, and the runtime's client run, which stays for as long as the
 * container does. The supervisor inside connects to the stage's socket, gets the guest's streams
 * and the control socket over it, and from there on is what it is in a container of our own. The
 * connection stays: a byte on it wakes the supervisor, and its end, which our death brings too,
 * ends it and with it the container, which the runtime then removes (--rm). Nothing has to be
 * running for that but the supervisor. What the runtime says on standard error is read when the
 * supervisor is there, and when it never comes.
 */
#include "oci/oci.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/str.h"
#include "launch/kind.h"
#include "oci/client.h"
#include "oci/cmdline.h"
#include "oci/stage.h"

/* A minute is what a busy daemon needs at worst; who is gone for longer answers no more. */
enum { START_MS = 120000, END_MS = 60000, KILL_MS = 5000, DEGRADED_MAX = 4, NAME_DIGITS = 24 };

struct container {
	struct launch launch; /* first */
	const struct oci *runtime;
	struct stage stage;
	struct client client;
	char name[sizeof("sandglass-") + NAME_DIGITS];
	int link; /* the supervisor's connection; -1: not there yet, or ended */
	bool is_over;
	struct launch_degraded degraded[DEGRADED_MAX];
	size_t degraded_count;
};

/* Each warning of the runtime's: it did less than it was asked for. */
static void note_warnings(struct container *c)
{
	static const char start[] = "WARNING: ";
	autofree char *text = NULL;
	char *rest, *line;
	struct error ignored;

	if (client_text(c->client.err, &text, &ignored) < 0)
		return;
	for (rest = text; (line = strsep(&rest, "\n")) && c->degraded_count < DEGRADED_MAX;) {
		struct launch_degraded *d = &c->degraded[c->degraded_count];
		autofree char *safe = NULL;

		if (!str_has_prefix(line, start))
			continue;
		safe = str_printable(line + sizeof(start) - 1, strlen(line) - sizeof(start) + 1,
			sizeof(d->detail) - 32);
		d->reason = REASON_RUNTIME_WARNING;
		snprintf(d->detail, sizeof(d->detail), "%s: %s", c->runtime->dialect->name, safe);
		c->degraded_count++;
	}
}

/* What a dialect has no words for. */
static void note_lacks(struct container *c)
{
	struct launch_degraded *d = &c->degraded[c->degraded_count];

	if (c->runtime->dialect->knows_tmpfs)
		return;
	d->reason = REASON_LIMIT_DEGRADED;
	snprintf(d->detail, sizeof(d->detail),
		"inodes: %s bounds the bytes of /tmp and not the number of its files",
		c->runtime->dialect->name);
	c->degraded_count++;
}

/* The client ended before the supervisor was there. */
static int start_failed(struct container *c, struct error *err)
{
	const char *name = c->runtime->dialect->name;
	autofree char *why = client_complaint(&c->client);

	if (WIFEXITED(c->client.status) && WEXITSTATUS(c->client.status) == 127)
		return error_set(
			err, ERR_MISSING, "%s: %s; %s", name, why, c->runtime->dialect->start);
	return error_set(err, ERR_UNSUPPORTED, "%s could not start the container: %s", name, why);
}

/* 1: *ret_fd is the supervisor's connection; 0: not yet. */
static int wait_for_supervisor(
	struct container *c, int interrupt, uint64_t until_ns, int *ret_fd, struct error *err)
{
	struct pollfd fds[] = {{.fd = c->stage.listener, .events = POLLIN},
		{.fd = c->client.pidfd, .events = POLLIN}, {.fd = interrupt, .events = POLLIN}};
	uint64_t now = clock_host_ns();
	int left = now < until_ns ? (int)((until_ns - now) / 1000000) + 1 : 0;
	int r = poll(fds, ARRAY_LEN(fds), left);

	if (r < 0)
		return errno == EINTR ? 0 : error_sys(err, "wait for the container");
	if (fds[0].revents) {
		*ret_fd = accept4(c->stage.listener, NULL, NULL, SOCK_CLOEXEC);
		return *ret_fd >= 0 ? 1 : errno == EAGAIN ? 0 : error_sys(err, "accept");
	}
	if (fds[1].revents)
		return client_wait(&c->client, 0, err) < 0 ? -1 : start_failed(c, err);
	if (fds[2].revents)
		return error_set(err, ERR_SYSTEM, "interrupted while the container was started");
	if (r == 0)
		return error_set(err, ERR_UNSUPPORTED,
			"%s did not start the container within %d "
			"seconds",
			c->runtime->dialect->name, START_MS / 1000);
	return 0;
}

static int start(struct container *c, const struct oci_spec *r, const struct launch_spec *spec,
	struct error *err)
{
	struct cmdline command = {.runtime = r, .launch = spec, .name = c->name};
	const int given[] = {spec->stdio[0], spec->stdio[1], spec->stdio[2], spec->control};
	uint64_t until = clock_host_ns() + START_MS * 1000000ull;
	auto_words struct words run = {0}, removal = {0};
	int got = 0;

	if (stage_init(&c->stage, err) < 0 || stage_fill(&c->stage, spec->contract, err) < 0)
		return -1;
	command.dir = c->stage.dir;
	cmdline_remove(r->runtime, c->name, &removal);
	if (cmdline_run(&command, &run, err) < 0 || stage_guard(&c->stage, &removal, err) < 0 ||
		client_start(&c->client, run.items, err) < 0)
		return -1;
	while (got == 0)
		if ((got = wait_for_supervisor(c, r->interrupt, until, &c->link, err)) < 0)
			return -1;
	stage_close(&c->stage);
	note_lacks(c);
	note_warnings(c);
	return fd_send(c->link, given, ARRAY_LEN(given), err);
}

/* ---- what launch.h asks ---- */

/* The guest has pipes: a terminal inside would be made by nobody. */
static int container_terminal(struct launch *launch)
{
	(void)launch;
	return -1;
}

static int container_copy_fd(const struct launch *launch, bool *ret_is_overlay)
{
	(void)launch;
	*ret_is_overlay = false;
	return -1;
}

static int container_lost_fd(const struct launch *launch)
{
	const struct container *c = (const struct container *)launch;

	return c->client.pid > 0 ? c->client.pidfd : -1;
}

static const struct launch_degraded *container_degraded(
	const struct launch *launch, size_t *ret_count)
{
	const struct container *c = (const struct container *)launch;

	*ret_count = c->degraded_count;
	return c->degraded;
}

static bool container_needs_memory_watch(const struct launch *launch)
{
	const struct container *c = (const struct container *)launch;

	/* Any warning may be of the limit of memory. */
	for (size_t i = 0; i < c->degraded_count; i++)
		if (c->degraded[i].reason == REASON_RUNTIME_WARNING)
			return true;
	return false;
}

static int container_nudge(struct launch *launch, struct error *err)
{
	struct container *c = (struct container *)launch;

	if (c->link >= 0 && send(c->link, "n", 1, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return error_sys(err, "wake the supervisor");
	return 0;
}

static void container_kill(struct launch *launch)
{
	struct container *c = (struct container *)launch;

	fd_close(&c->link);
}

/* Asks the runtime to end and remove it; whether that worked shows by the client's end. */
static void remove_by_force(struct container *c)
{
	auto_words struct words removal = {0};
	autofree char *answer = NULL;
	struct error ignored;

	cmdline_remove(c->runtime, c->name, &removal);
	(void)!client_ask(removal.items, &answer, &ignored);
}

static bool is_named_oom(const struct container *c)
{
	autofree char *filter = str_format("container=%s", c->name), *answer = NULL;
	auto_words struct words ask = {0};
	struct error ignored;

	if (!c->runtime->dialect->oom)
		return false;
	cmdline_ask(c->runtime, c->runtime->dialect->oom, filter, &ask);
	return client_ask(ask.items, &answer, &ignored) == 0 && answer[0] != '\0';
}

static int container_wait(struct launch *launch, int *ret_status, struct error *err)
{
	struct container *c = (struct container *)launch;
	/* Who was to end and did not within some seconds does not do it by itself. */
	int r = c->is_over ? 1 : client_wait(&c->client, c->link < 0 ? KILL_MS : END_MS, err);

	if (r < 0)
		return -1;
	if (r == 0) {
		remove_by_force(c);
		kill(c->client.pid, SIGKILL);
		if (client_wait(&c->client, -1, err) < 0)
			return -1;
	}
	/* What docker run says with 137 is that the supervisor was killed. */
	if (WIFEXITED(c->client.status) && WEXITSTATUS(c->client.status) == 128 + SIGKILL)
		c->client.status = SIGKILL;
	c->is_over = true;
	*ret_status = c->client.status;
	return 0;
}

static bool container_was_oom(const struct launch *launch)
{
	return is_named_oom((const struct container *)launch);
}

static void container_free(struct launch *launch)
{
	struct container *c = (struct container *)launch;
	struct error ignored;

	fd_close(&c->link);
	if (!c->is_over && c->client.pid > 0 && client_wait(&c->client, END_MS, &ignored) != 1)
		remove_by_force(c);
	client_finish(&c->client);
	stage_finish(&c->stage);
	free(c);
}

static const struct launch_kind kind = {
	.terminal = container_terminal,
	.copy_fd = container_copy_fd,
	.lost_fd = container_lost_fd,
	.degraded = container_degraded,
	.needs_memory_watch = container_needs_memory_watch,
	.nudge = container_nudge,
	.kill = container_kill,
	.wait = container_wait,
	.was_oom = container_was_oom,
	.free = container_free,
};

static void give_name(struct container *c)
{
	char digits[NAME_DIGITS + 1];

	random_hex(digits, NAME_DIGITS);
	snprintf(c->name, sizeof(c->name), "sandglass-%s", digits);
}

int oci_start(const struct oci_spec *r, const struct launch_spec *spec, struct launch **ret,
	struct error *err)
{
	struct container *c = mem_alloc(sizeof(*c));
	auto_launch struct launch *launch = &c->launch;

	c->launch.kind = &kind;
	c->runtime = r->runtime;
	c->stage = STAGE_NONE;
	c->client = CLIENT_NONE;
	c->link = -1;
	give_name(c);
	if (start(c, r, spec, err) < 0)
		return -1;
	*ret = take_ptr(launch);
	return 0;
}

int oci_command(
	const struct oci_spec *r, const struct launch_spec *spec, char **ret, struct error *err)
{
	struct cmdline command = {.runtime = r,
		.launch = spec,
		.dir = "/tmp/sandglass-run-XXXXXX",
		.name = "sandglass-XXXXXXXXXXXXXXXXXXXXXXXX"};
	auto_words struct words run = {0};

	if (cmdline_run(&command, &run, err) < 0)
		return -1;
	*ret = words_quote(&run);
	return 0;
}
