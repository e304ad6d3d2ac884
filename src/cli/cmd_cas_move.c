/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass cas export and cas import: objects from one store to another. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/store.h"

struct values {
	const char *store, *out;
	bool json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option export_options[] = {
	{"store", CLI_TEXT, "DIR", "the store; default: the user's own", AT(store)},
	{"out", CLI_TEXT, "FILE", "where to; - is standard output", AT(out),
		"A file takes its place only when it is whole."},
	{0},
};

static const struct cli_option import_options[] = {
	{"store", CLI_TEXT, "DIR", "the store; default: the user's own", AT(store)},
	{0},
};

struct words {
	char (*digests)[DIGEST_TEXT];
	const char **list;
	size_t count;
};

static void words_finish(struct words *w)
{
	free(w->digests);
	free(w->list);
}

static int find_words(struct cas *c, char **argv, struct words *w, struct error *err)
{
	while (argv[w->count])
		w->count++;
	w->digests = mem_array(w->count, sizeof(*w->digests));
	w->list = mem_array(w->count, sizeof(*w->list));
	for (size_t i = 0; i < w->count; i++) {
		if (cli_store_find(c, argv[i], w->digests[i], err) < 0)
			return -1;
		w->list[i] = w->digests[i];
	}
	return 0;
}

/* A file beside the one that is wanted takes its place when it is whole. */
static int export_file(struct cas *c, const struct words *w, const char *path, struct error *err)
{
	struct cas_progress progress = cli_progress("exporting");
	autofree char *tmp = str_format("%s.%d", path, (int)getpid());
	autoclose int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_sys(err, "make '%.200s'", tmp);
	if (cas_export(c, w->list, w->count, fd, &progress, err) == 0) {
		if (fsync(fd) == 0 && rename(tmp, path) == 0)
			return 0;
		error_sys(err, "write '%.200s'", path);
	}
	unlink(tmp);
	return -1;
}

static int run_export(void *values, char **argv)
{
	const struct values *v = values;
	struct words CLEANUP(words_finish) w = {0};
	auto_cas struct cas *c = NULL;
	bool to_stdout = v->out && strcmp(v->out, "-") == 0;
	struct error err;
	int r;

	if (!argv[0] || !v->out) {
		cli_say("cas export needs a digest or a root, and --out FILE");
		return 2;
	}
	if (cli_store_open(v->store, CAS_READ, &c, &err) < 0 || find_words(c, argv, &w, &err) < 0)
		return cli_fail(&err, 2);
	r = to_stdout ? cas_export(c, w.list, w.count, STDOUT_FILENO, NULL, &err)
		      : export_file(c, &w, v->out, &err);
	cli_progress_end();
	if (r < 0)
		return cli_fail(&err, err.code == ERR_TAMPERED ? 1 : 2);
	if (to_stdout)
		return 0;
	if (v->json) {
		json_t *o = json_object(), *list = json_array();

		for (size_t i = 0; i < w.count; i++)
			json_add(list, json_str(w.list[i]));
		json_put(o, "exported", list);
		json_put(o, "out", json_bytes(v->out, strlen(v->out)));
		cli_print_json(o);
	} else {
		printf("%s\n", v->out);
	}
	return 0;
}

const struct cli_command command_cas_export = {
	.name = "cas export",
	.arguments = "DIGEST|ROOT...",
	.summary = "Write objects, and what they lead to, into one file",
	.options = export_options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_export,
	.usage_status = 2,
};

struct imported {
	json_t *json; /* NULL: as text */
};

static int tell_one(void *context, const struct cas_entry *e, struct error *err)
{
	const struct imported *i = context;

	(void)err;
	if (i->json)
		json_add(i->json, json_str(e->digest));
	else
		printf("%s\n", e->digest);
	return 0;
}

static int run_import(void *values, char **argv)
{
	const struct values *v = values;
	struct imported imported = {.json = v->json ? json_array() : NULL};
	auto_json json_t *list = imported.json;
	struct cas_progress progress = cli_progress("importing");
	auto_cas struct cas *c = NULL;
	autoclose int fd = -1;
	struct error err;
	int r;

	if (!argv[0] || argv[1]) {
		cli_say("cas import needs one file, or - for standard input");
		return 2;
	}
	fd = strcmp(argv[0], "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				       : open(argv[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		error_sys(&err, "open '%.200s'", argv[0]);
		return cli_fail(&err, 2);
	}
	if (cli_store_open(v->store, CAS_WRITE, &c, &err) < 0)
		return cli_fail(&err, 2);
	r = cas_import(c, fd, tell_one, &imported, &progress, &err);
	cli_progress_end();
	if (r < 0)
		return cli_fail(&err, err.code == ERR_TAMPERED || err.code == ERR_FORMAT ? 1 : 2);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "imported", json_incref(list));
		cli_print_json(o);
	}
	return 0;
}

const struct cli_command command_cas_import = {
	.name = "cas import",
	.arguments = "FILE|-",
	.summary = "Put the objects of such a file into the store",
	.details = "Prints the digests that were asked for at the export; each is now the root "
		   "import-HEX.\n",
	.options = import_options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_import,
	.usage_status = 2,
};
