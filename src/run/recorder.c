/* SPDX-License-Identifier: Apache-2.0 */
/* The tape of a run that is being made: see recorder.h. */
#include "run/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/temp.h"
#include "config/paths.h"
#include "run/json.h"
#include "run/programs.h"
#include "run/replay.h"
#include "tape/input.h"
#include "tape/net.h"
#include "wire/frame.h"

/* Of a tape that nobody asked for. */
static const uint64_t unasked_max = 1024ull * 1024 * 1024;

void recorder_init(struct recorder *r, const struct contract *c, const struct inputs *in)
{
	*r = (struct recorder){.contract = c, .inputs = in, .fd = -1};
}

void recorder_finish(struct recorder *r)
{
	tape_writer_free(r->writer);
	fd_close(&r->fd);
	free(r->kept);
	*r = (struct recorder){.fd = -1};
}

const char *recorder_path(const struct recorder *r)
{
	return r->path ? r->path : r->kept;
}

static char *header_text(const struct recorder *r)
{
	auto_json json_t *o = json_object();
	json_t *contract = contract_json(r->contract, r->inputs);
	auto_bytes struct bytes launch = {0};
	struct conditions none = {0};
	char digest[DIGEST_TEXT];

	contract_encode(&launch, r->contract, &none);
	json_digest(contract, digest);
	json_put(o, "format", json_str("sandglass.tape/1"));
	json_put(o, "contract", contract);
	json_put(o, "digest", json_str(digest));
	json_put(o, "launch", json_bytes((const char *)launch.data, launch.len));
	json_put(o, "substrate", json_str(r->substrate ? r->substrate : "native"));
	if (r->journal)
		json_put(o, "journal", json_true());
	return json_text(o);
}

/* Names sort by their age. */
static int make_name(char **ret, struct error *err)
{
	autofree char *state = NULL, *dir = NULL;

	if (paths_find(PATHS_STATE, &state, err) < 0)
		return -1;
	dir = str_format("%s/tapes", state);
	for (char *p = dir + 1;; p++) {
		char was = *p;

		if (was != '/' && was != '\0')
			continue;
		*p = '\0';
		if (mkdir(dir, 0700) < 0 && errno != EEXIST)
			return error_sys(err, "make '%.300s'", dir);
		*p = was;
		if (!was)
			break;
	}
	*ret = str_format("%s/%020" PRIu64 "-%d.tape", dir, clock_host_real_ns(), (int)getpid());
	return 0;
}

static int is_kept_name(const struct dirent *e)
{
	size_t digits = strspn(e->d_name, "0123456789"), len = strlen(e->d_name);

	return digits == 20 && e->d_name[20] == '-' && len > 25 &&
	       strcmp(e->d_name + len - 5, ".tape") == 0;
}

/* The oldest go. What cannot be looked at or removed stays. */
static void sweep(const char *kept)
{
	autofree char *dir = mem_strndup(kept, (size_t)(strrchr(kept, '/') - kept));
	struct dirent **list = NULL;
	int count = scandir(dir, &list, is_kept_name, alphasort);

	for (int i = 0; i < count; i++) {
		autofree char *path = str_format("%s/%s", dir, list[i]->d_name);

		if (i + RECORDER_KEPT < count)
			unlink(path);
		free(list[i]);
	}
	free(list);
}

static int create(struct recorder *r, const char *path, struct error *err)
{
	autofree char *text = header_text(r);

	if (tape_create(path, text, strlen(text), &r->writer, err) < 0)
		return -1;
	r->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return r->fd < 0 ? error_sys(err, "tape '%.300s'", path) : 0;
}

int recorder_begin(struct recorder *r, const char *path, struct error *err)
{
	r->path = path;
	return create(r, path, err);
}

/* Who writes a journal holds it. After a death its sandbox's last processes may still do so. */
static int hold(int fd, const char *path, struct error *err)
{
	const struct timespec moment = {.tv_nsec = 20000000};

	for (int tries = 500; flock(fd, LOCK_EX | LOCK_NB) < 0; tries--) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_sys(err, "lock the journal '%.300s'", path);
		if (tries == 0)
			return error_set(err, ERR_BUSY, "the run of '%.300s' is not over", path);
		nanosleep(&moment, NULL);
	}
	return 0;
}

static int sync_folder(const char *path, struct error *err)
{
	autofree char *tidy = path_tidy(path), *dir = path_dirname(tidy);
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some file systems cannot, and then need not. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return error_sys(err, "put '%.300s' onto the disk", dir);
	return 0;
}

int recorder_begin_journal(
	struct recorder *r, const char *path, struct journal *j, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > 0))
		return error_set(err, ERR_BUSY,
			"--journal '%.200s' exists: 'sandglass resume' goes on with it; or choose "
			"another name",
			path);
	r->path = path;
	r->journal = j;
	if (create(r, path, err) < 0 || hold(r->fd, path, err) < 0)
		return -1;
	j->writer = r->writer;
	return sync_folder(path, err);
}

static int check_journal(const struct tape_reader *t, struct error *err)
{
	auto_json json_t *header = NULL;

	if (replay_header(t, &header, err) < 0)
		return -1;
	return json_is_true(json_object_get(header, "journal"))
		       ? 0
		       : error_set(err, ERR_USAGE,
				 "it is a tape and no journal: 'sandglass replay' runs it again");
}

/* Up to the outcome, or the end: 1 when the run had ended by itself. */
static int read_past(struct tape_reader *t, struct journal_past *past, struct error *err)
{
	struct tape_record record;
	uint64_t at;
	int got;

	while ((got = tape_next(t, &record, err)) > 0) {
		if (record.kind != TAPE_OUTCOME)
			journal_past_take(past, &record);
		else if (tape_is_whole(t))
			return 1;
		else
			return tape_seek(t, record.ordinal, err) < 0 ? -1 : 0;
	}
	if (got < 0 || !tape_damage(t, &at))
		return got;
	got = tape_is_torn(t, err);
	if (got == 0)
		return error_set(err, ERR_FORMAT, "damaged at byte %" PRIu64 ": %s", at,
			tape_damage(t, &at));
	return got < 0 ? -1 : 0;
}

int recorder_continue(struct recorder *r, const char *path, struct journal *j,
	struct journal_past *ret, struct error *err)
{
	autoclose int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	auto_tape_reader struct tape_reader *t = NULL;
	struct journal_past past = {0};
	int over;

	if (fd < 0)
		return errno == ELOOP ? error_set(err, ERR_FORMAT,
						"journal '%.300s' is a symbolic link", path)
				      : error_sys(err, "journal '%.300s'", path);
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (r->fd < 0 || hold(fd, path, err) < 0)
		return r->fd < 0 ? error_sys(err, "journal '%.300s'", path) : -1;
	if (tape_open_fd(fcntl(fd, F_DUPFD_CLOEXEC, 3), &t, err) < 0 || check_journal(t, err) < 0 ||
		(over = read_past(t, &past, err)) < 0 ||
		(!over && tape_continue_fd(take_fd(fd), t, &r->writer, err) < 0))
		return error_wrap(err, "journal '%.300s'", path);
	r->path = path;
	r->journal = j;
	j->writer = r->writer;
	*ret = past;
	return 0;
}

/* Nobody named a place; where the state has none either, a file without a name serves --verify. */
static int begin_unasked(struct recorder *r, struct error *err)
{
	autofree char *text = NULL;
	struct error ignored;
	int fd = -1;

	if (make_name(&r->kept, err) == 0 && create(r, r->kept, err) == 0) {
		sweep(r->kept);
		return 0;
	}
	free(r->kept);
	r->kept = NULL;
	text = header_text(r);
	if (!r->writer && temp_open(&fd, &ignored) == 0) {
		r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (tape_create_fd(fd, text, strlen(text), &r->writer, &ignored) < 0)
			r->writer = NULL;
	}
	return -1;
}

/* What became of a connect, or came over a connection. */
static int append_net(struct recorder *r, const struct feed_ask *ask,
	const struct feed_answer *answer, const void *data, struct error *err)
{
	unsigned char head[TAPE_CONNECT_SIZE];
	bool is_connect = answer->flags & FRAME_NET_CONNECTED;
	size_t len = is_connect ? TAPE_CONNECT_SIZE : TAPE_RECEIVED_HEAD;

	if (is_connect) {
		struct tape_connect c = {.stream = answer->stream,
			.datagrams = answer->datagrams,
			.family = answer->to.family,
			.port = answer->to.port,
			.error = answer->error,
			.request = ask->request};

		memcpy(c.ip, answer->to.ip, sizeof(c.ip));
		tape_connect_encode(head, &c);
	} else {
		tape_received_encode(head, &(struct tape_received){.stream = answer->stream,
						   .flags = answer->flags,
						   .request = ask->request});
	}
	r->bytes += answer->len;
	if (tape_append(r->writer, is_connect ? TAPE_CONNECT : TAPE_RECEIVED, ask->task,
		    answer->now_ns, (struct tape_part[2]){{head, len}, {data, answer->len}},
		    err) < 0)
		return -1;
	return tape_flush(r->writer, err);
}

static int append(struct recorder *r, const struct feed_ask *ask, const struct feed_answer *answer,
	const void *data, struct error *err)
{
	unsigned char head[TAPE_INPUT_HEAD];
	struct tape_input in = {.request = ask->request, .flags = answer->len ? 0 : TAPE_INPUT_END};

	if (answer->stream)
		return append_net(r, ask, answer, data, err);
	if (answer->flags & FRAME_INPUT_SIGNAL) {
		in.signal = answer->signal;
		tape_signal_encode(head, &in);
		if (tape_append(r->writer, TAPE_SIGNAL, ask->task, answer->now_ns,
			    (struct tape_part[2]){{head, TAPE_SIGNAL_SIZE}, {"", 0}}, err) < 0)
			return -1;
		return tape_flush(r->writer, err);
	}
	tape_input_encode(head, &in);
	r->bytes += answer->len;
	/* Flushed: when we are killed, what the guest has seen is on it. */
	if (tape_append(r->writer, TAPE_INPUT, ask->task, answer->now_ns,
		    (struct tape_part[2]){{head, sizeof(head)}, {data, answer->len}}, err) < 0)
		return -1;
	return tape_flush(r->writer, err);
}

int recorder_input(void *arg, const struct feed_ask *ask, const struct feed_answer *answer,
	const void *data, struct error *err)
{
	struct recorder *r = arg;
	int begun = 0;

	if (!answer->len && !answer->stream &&
		!(answer->flags & (FRAME_INPUT_END | FRAME_INPUT_SIGNAL)))
		return 0;
	if (!r->writer)
		begun = begin_unasked(r, err);
	if (!r->writer)
		return -1;
	if (!r->path && r->bytes + answer->len > unasked_max) {
		r->is_partial = true;
		return error_set(err, ERR_LIMIT,
			"a tape that nobody asked for ends at 1 GiB; --record has no limit");
	}
	if (append(r, ask, answer, data, err) < 0) {
		r->is_partial = true;
		return -1;
	}
	if (r->journal)
		journal_touch(r->journal);
	return begun;
}

int recorder_sent(void *arg, const struct tape_sent *sent, uint64_t now_ns, struct error *err)
{
	unsigned char head[TAPE_SENT_HEAD];
	struct recorder *r = arg;
	int begun = 0;

	if (!r->writer)
		begun = begin_unasked(r, err);
	if (!r->writer)
		return -1;
	tape_sent_encode(head, sent);
	if (tape_append(r->writer, TAPE_SENT, 0, now_ns,
		    (struct tape_part[2]){{head, sizeof(head)}, {sent->shown, sent->shown_len}},
		    err) < 0 ||
		(r->journal ? tape_sync(r->writer, err) : tape_flush(r->writer, err)) < 0) {
		r->is_partial = true;
		return -1;
	}
	return begun;
}

json_t *recorder_outcome(const struct one_result *one, const struct decisions *d)
{
	json_t *o = json_object(), *programs = json_array();
	char decisions[DIGEST_TEXT];

	digest_text(d->digest, decisions);
	json_put(o, "code", one->signal ? json_null() : json_u64((uint64_t)one->code));
	json_put(o, "signal", one->signal ? json_u64((uint64_t)one->signal) : json_null());
	json_put(o, "deadlock", json_boolean(one->end == ONE_DEADLOCK));
	json_put(o, "stdout", json_str(one->out));
	json_put(o, "stderr", json_str(one->err));
	json_put(o, "decisions", json_str(decisions));
	json_put(o, "enforced", json_boolean(notes_is_enforced(&one->notes)));
	for (size_t i = 0; i < one->programs.count; i++) {
		json_t *p = json_object();

		json_put(p, "path", json_str(one->programs.items[i].path));
		json_put(p, "sha256",
			one->programs.items[i].sha256[0] ? json_str(one->programs.items[i].sha256)
							 : json_null());
		json_add(programs, p);
	}
	json_put(o, "programs", programs);
	return o;
}

int recorder_end(struct recorder *r, const struct one_result *one, const struct decisions *d,
	struct error *err)
{
	const struct contract *c = r->contract;
	auto_json json_t *o = NULL;
	autofree char *text = NULL;
	uint64_t now = one->counts.clock_final_ns - c->epoch_ns + c->monotonic_ns;

	/* Only a run that ended by itself has a tape that is whole. */
	if (!r->writer || one->end > ONE_DEADLOCK || r->is_partial)
		return 0;
	/* Who killed a part of it may want to go on from before that. */
	if (r->journal && one->was_killed)
		return 0;
	if (one->counts.clock_final_ns < c->epoch_ns) /* it ended without telling */
		return 0;
	o = recorder_outcome(one, d);
	text = json_text(o);
	if (tape_append(r->writer, TAPE_OUTCOME, 0, now,
		    (struct tape_part[2]){{text, strlen(text)}, {"", 0}}, err) < 0)
		return -1;
	return tape_end(r->writer, err);
}

int recorder_reader(struct recorder *r, struct tape_reader **ret, struct error *err)
{
	int fd = -1;

	if (!r->writer) {
		auto_tape_writer struct tape_writer *empty = NULL;

		if (temp_open(&fd, err) < 0)
			return -1;
		r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (tape_create_fd(fd, "{}", 2, &empty, err) < 0 || tape_end(empty, err) < 0)
			return -1;
	}
	fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return error_sys(err, "the tape");
	return tape_open_fd(fd, ret, err);
}
