/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a log: see joblog.h. */
#include "replicate/joblog.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"

int joblog_open(struct joblog *l, const char *path, const char *job, struct error *err)
{
	*l = (struct joblog){.fd = -1, .job = job};
	if (!path)
		return 0;
	l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
	return l->fd < 0 ? error_sys(err, "--log-file '%.300s'", path) : 0;
}

void joblog_close(struct joblog *l)
{
	fd_close(&l->fd);
}

int joblog_add(struct joblog *l, const char *event, json_t *members, struct error *err)
{
	auto_json json_t *o = members ? members : json_object();
	struct bytes CLEANUP(bytes_finish) line = {0};
	char time[NUM_TIME_SIZE];

	if (l->fd < 0)
		return 0;
	num_format_time(time, clock_host_real_ns());
	json_put(o, "event", json_str(event));
	json_put(o, "format", json_str(JOBLOG_FORMAT));
	json_put(o, "job_id", l->job ? json_str(l->job) : json_null());
	json_put(o, "seq", json_u64(++l->count));
	json_put(o, "time", json_str(time));
	json_write(&line, o);
	bytes_put_u8(&line, '\n');
	/* One write, so that lines of jobs side by side in one file stay whole. */
	if (fd_write_all(l->fd, line.data, line.len, err) < 0)
		return error_wrap(err, "--log-file");
	return 0;
}
