/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's standard streams: see io.h. */
#include "run/io.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/launch.h"
#include "run/pty.h"

static int open_pipe(int *ret_read, int *ret_write, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");
	*ret_read = ends[0];
	*ret_write = ends[1];
	/* Either end: a pipe has one owner. `> /dev/stderr` opens it again. */
	return launch_give(ends[0], err);
}

static int open_pipes(struct io *io, const struct stdin_source *in, bool quiet, struct feed *feed,
	struct error *err)
{
	autoclose int out = -1, errs = -1, input = -1, to = -1;
	bool from_tape =
		feed && feed->reader && !feed->resumes && in->kind == CONTRACT_STDIN_STREAM;

	if ((!from_tape && stdin_reader(in, &input, err) < 0) ||
		open_pipe(&out, &io->guest[1], err) < 0 || open_pipe(&errs, &io->guest[2], err) < 0)
		return -1;
	pump_start(&io->out, take_fd(out), quiet ? -1 : 1);
	pump_start(&io->err, take_fd(errs), quiet ? -1 : 2);
	if (in->kind != CONTRACT_STDIN_STREAM) {
		io->guest[0] = take_fd(input);
		return feed ? feed_start(feed, -1, -1, err) : 0;
	}
	if (open_pipe(&io->guest[0], &to, err) < 0)
		return -1;
	if (feed)
		return feed_start(feed, take_fd(input), take_fd(to), err);
	pump_start(&io->in, take_fd(input), take_fd(to));
	io->in.owns_to = true;
	io->in.spool = in->spool;
	return 0;
}

int io_open(struct io *io, const struct contract *c, const struct stdin_source *in, bool quiet,
	struct feed *feed, struct error *err)
{
	*io = (struct io){.guest = {-1, -1, -1}, .input = -1};
	pump_init(&io->in);
	pump_init(&io->out);
	pump_init(&io->err);
	/* A terminal is made inside: io_attach. */
	return c->tty ? stdin_reader(in, &io->input, err) : open_pipes(io, in, quiet, feed, err);
}

int io_attach(
	struct io *io, int terminal, const struct stdin_source *in, bool quiet, struct error *err)
{
	autoclose int master = terminal, to = fcntl(terminal, F_DUPFD_CLOEXEC, 3);

	if (to < 0)
		return error_sys(err, "the guest's terminal");
	pump_start(&io->in, take_fd(io->input), take_fd(to));
	io->in.owns_to = true;
	io->in.spool = in->spool;
	pump_start(&io->out, take_fd(master), quiet ? -1 : 1);
	if (quiet)
		return 0;
	if (pty_raw(io->out.from, err) < 0)
		return -1;
	io->raw = true;
	io->in.filter = pty_filter;
	return 0;
}

void io_started(struct io *io)
{
	for (int i = 0; i < 3; i++)
		fd_close(&io->guest[i]);
}

void io_close(struct io *io)
{
	io_started(io);
	fd_close(&io->input);
	pump_finish(&io->in);
	pump_finish(&io->out);
	pump_finish(&io->err);
	if (io->raw)
		pty_restore();
	io->raw = false;
}
