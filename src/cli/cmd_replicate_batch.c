/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass replicate init, batch: a manifest to begin with; many claims at once. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "cli/store.h"
#include "replicate/batch.h"
#include "replicate/draft.h"
#include "run/place.h"

struct init_values {
	struct draft d;
	bool json;
};

static const struct cli_option init_options[] = {
	{"code-dir", CLI_TEXT, "DIR", "the checkout, a clean one",
		offsetof(struct init_values, d.code)},
	{"data-dir", CLI_TEXT, "DIR", "where the data sets are",
		offsetof(struct init_values, d.data)},
	{"image", CLI_TEXT, "REF@DIGEST", "the image, pinned by its digest",
		offsetof(struct init_values, d.image)},
	{"id", CLI_TEXT, "ID", "the claim's name", offsetof(struct init_values, d.id)},
	{"entrypoint", CLI_TEXT, "COMMAND", "what computes it, run by sh -c",
		offsetof(struct init_values, d.entrypoint)},
	{0},
};

static int run_init(void *values, char **words)
{
	const struct init_values *v = values;
	autofree char *text = NULL;
	struct error err = {0};

	if (!cli_words_are(
		    words, 0, 0, "replicate init --code-dir DIR --data-dir DIR --image REF@DIGEST"))
		return STATUS_USAGE;
	if (!v->d.code || !v->d.data || !v->d.image) {
		cli_say("--code-dir, --data-dir and --image are needed");
		return STATUS_USAGE;
	}
	if (draft_make(&v->d, &text, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	fputs(text, stdout);
	return 0;
}

const struct cli_command command_replicate_init = {
	.name = "replicate init",
	.arguments = "",
	.summary = "Write the manifest of a claim to begin with",
	.details = "The manifest is printed: the commit of the checkout, each file of the data "
		   "with size and\n"
		   "digest, the image's digest. The targets are yours to fill in.\n",
	.options = init_options,
	.size = sizeof(struct init_values),
	.json = offsetof(struct init_values, json),
	.interleaved = true,
	.run = run_init,
	.usage_status = STATUS_USAGE,
};

struct batch_values {
	const char *runtime, *rootfs;
	uint64_t jobs, repeat;
	bool host, deterministic, sign, json;
};

#define AT(field) offsetof(struct batch_values, field)

static const struct cli_option batch_options[] = {
	{"jobs", CLI_NUMBER, "N", "so many side by side (1)", AT(jobs)},
	{"runtime", CLI_TEXT, "native|docker|podman|nerdctl|runsc", "as of 'replicate'",
		AT(runtime)},
	{"rootfs", CLI_TEXT, "DIR", "as of 'replicate'", AT(rootfs)},
	{"host-programs", CLI_FLAG, NULL, "as of 'replicate'", AT(host)},
	{"deterministic", CLI_FLAG, NULL, "as of 'replicate'", AT(deterministic)},
	{"repeat", CLI_NUMBER, "N", "as of 'replicate'", AT(repeat)},
	{"sign", CLI_FLAG, NULL, "sign the records", AT(sign)},
	{0},
};

static const char *word_of(const struct batch_job *j)
{
	return j->has_failed ? "error" : outcome_names[j->outcome];
}

static void tell(const struct batch_job *j)
{
	printf("%-16s %s (%s%s)\n", word_of(j), j->name, j->was_done ? "earlier; " : "", j->detail);
	fflush(stdout);
}

static json_t *summary(const struct batch *b)
{
	json_t *o = json_object(), *jobs = json_array(), *counts = json_object();
	uint64_t numbers[OUTCOMES + 1] = {0};

	for (size_t i = 0; i < b->count; i++) {
		const struct batch_job *j = &b->jobs[i];
		json_t *one = json_object();

		numbers[j->has_failed ? OUTCOMES : j->outcome]++;
		json_put(one, "name", json_str(j->name));
		json_put(one, "outcome", json_str(word_of(j)));
		json_put(one, "detail", json_str(j->detail));
		json_put(one, "earlier", json_boolean(j->was_done));
		json_add(jobs, one);
	}
	for (int k = 0; k < OUTCOMES; k++)
		json_put(counts, outcome_names[k], json_u64(numbers[k]));
	json_put(counts, "error", json_u64(numbers[OUTCOMES]));
	json_put(o, "format", json_str("sandglass.replication-batch/1"));
	json_put(o, "counts", counts);
	json_put(o, "jobs", jobs);
	return o;
}

static int fill(int fd, const void *arg, struct error *err)
{
	const char *text = arg;

	return fd_write_all(fd, text, strlen(text), err);
}

static int status_of(const struct batch *b)
{
	int status = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->jobs[i].has_failed)
			return STATUS_USAGE;
		else if (b->jobs[i].outcome != OUTCOME_REPRODUCED)
			status = STATUS_NO;
	return status;
}

static int run_batch(void *values, char **words)
{
	const struct batch_values *v = values;
	autofree char *repeat = str_format("%llu", (unsigned long long)v->repeat), *text = NULL,
		      *path = NULL;
	auto_batch struct batch b = {0};
	auto_json json_t *o = NULL;
	const char *options[10];
	struct batch_options batch = {.jobs = v->jobs ? (unsigned)v->jobs : 1,
		.options = options,
		.told = v->json ? NULL : tell};
	struct error err = {0};
	size_t n = 0;

	if (!cli_words_are(words, 1, 1, "replicate batch DIR [--jobs N]"))
		return STATUS_USAGE;
	if (v->jobs > BATCH_JOBS_MAX) {
		error_set(&err, ERR_USAGE, "--jobs: at most %d", BATCH_JOBS_MAX);
		return cli_fail(&err, STATUS_USAGE);
	}
	if (v->runtime) {
		options[n++] = "--runtime";
		options[n++] = v->runtime;
	}
	if (v->rootfs) {
		options[n++] = "--rootfs";
		options[n++] = v->rootfs;
	}
	if (v->repeat) {
		options[n++] = "--repeat";
		options[n++] = repeat;
	}
	if (v->host)
		options[n++] = "--host-programs";
	if (v->deterministic)
		options[n++] = "--deterministic";
	if (v->sign)
		options[n++] = "--sign";
	options[n] = NULL;
	batch.dir = words[0];
	if (batch_run(&batch, &b, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	o = summary(&b);
	text = json_text(o);
	path = str_format("%s/summary.json", words[0]);
	if (place_write(path, fill, text, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (v->json)
		printf("%s\n", text);
	return status_of(&b);
}

const struct cli_command command_replicate_batch = {
	.name = "replicate batch",
	.arguments = "DIR",
	.summary = "Compute many claims again, side by side",
	.details = "Each directory of DIR with a manifest.json is a claim: code/ and data/ beside "
		   "it, and a\n"
		   "file `image` with the line REF@DIGEST. Records and logs are put there too, and "
		   "DIR/summary.json.\n"
		   "What has a record of this very manifest is not run again, so a batch that was "
		   "killed goes on.\n"
		   "\n"
		   "Exit status: 0 all are reproduced; 1 some are not; 2 some could not be run.\n",
	.options = batch_options,
	.size = sizeof(struct batch_values),
	.json = AT(json),
	.interleaved = true,
	.run = run_batch,
	.usage_status = STATUS_USAGE,
};
