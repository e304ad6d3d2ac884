/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass pack: candidate code in a directory, its manifest and the hash that pins it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "cli/store.h"
#include "cli/trial.h"
#include "pack/pack.h"

struct values {
	const char *lang;
	bool run, json;
};

static const struct cli_option making[] = {
	{"lang", CLI_TEXT, "sh|c|python|node", "what it is written in; default: sh",
		offsetof(struct values, lang)},
	{0},
};
static const struct cli_option checking[] = {
	{"run", CLI_FLAG, NULL, "start the pack's program too, in a container as a trial does",
		offsetof(struct values, run)},
	{0},
};
static const struct cli_option none[] = {{0}};

/* What is known of a pack's directory. */
struct known {
	struct bundle bundle;
	json_t *manifest; /* NULL: not to be read */
	struct pack_code code;
	struct faults faults;
};

static void known_finish(struct known *k)
{
	bundle_finish(&k->bundle);
	json_decref(k->manifest);
	pack_code_finish(&k->code);
	faults_finish(&k->faults);
}

static const char *text_at(const json_t *o, const char *table, const char *key)
{
	const json_t *at = json_object_get(o, table);
	const char *v = json_string_value(json_object_get(at, key));

	return v ? v : "";
}

static int know(const char *path, bool with_manifest, struct known *ret, struct error *err)
{
	autoclose int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *stated;

	if (dir < 0)
		return error_sys(err, "open '%.300s'", path);
	if (bundle_take(dir, -1, &ret->bundle, &ret->faults, err) < 0)
		return error_wrap(err, "'%.200s'", path);
	if (!with_manifest)
		return 0;
	if (pack_manifest_load(dir, &ret->manifest, &ret->faults, err) < 0)
		return -1;
	pack_code_find(ret->manifest, &ret->bundle, &ret->code, &ret->faults);
	stated = text_at(json_object_get(ret->manifest, "pack"), "integrity", "content_hash");
	if (bundle_is_pin(stated) && strcmp(stated, ret->bundle.content) != 0)
		faults_add(&ret->faults,
			"pack.integrity.content_hash is %s, and the content's is %s", stated,
			ret->bundle.content);
	return 0;
}

/* Every fault on a line of its own; the status. */
static int tell_faults(const struct known *k, const char *path)
{
	for (size_t i = 0; i < k->faults.count; i++)
		fprintf(stderr, "sandglass: %s: %s\n", path, k->faults.items[i]);
	if (k->faults.left_out)
		fprintf(stderr, "sandglass: %s: and %zu more\n", path, k->faults.left_out);
	return k->faults.count ? STATUS_NO : 0;
}

static json_t *faults_json(const struct known *k)
{
	json_t *list = json_array();

	for (size_t i = 0; i < k->faults.count; i++)
		json_add(list, json_str(k->faults.items[i]));
	return list;
}

static int run_new(void *values, char **argv)
{
	const struct values *v = values;
	struct known CLEANUP(known_finish) k = {0};
	struct error err;

	if (!cli_words_are(argv, 1, 1, "pack new [--lang LANG] DIR"))
		return STATUS_USAGE;
	if (pack_scaffold(argv[0], v->lang ? v->lang : "sh", &err) < 0 ||
		know(argv[0], false, &k, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	cli_print_one(v->json, "bundle_hash", k.bundle.digest);
	return 0;
}

static int run_hash(void *values, char **argv)
{
	const struct values *v = values;
	struct known CLEANUP(known_finish) k = {0};
	struct error err;
	int status;

	if (!cli_words_are(argv, 1, 1, "pack hash DIR"))
		return STATUS_USAGE;
	if (know(argv[0], false, &k, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	status = tell_faults(&k, argv[0]);
	if (status)
		return status;
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "bundle_hash", json_str(k.bundle.digest));
		json_put(o, "content_hash", json_str(k.bundle.content));
		cli_print_json(o);
		return 0;
	}
	printf("%s bundle\n%s content\n", k.bundle.digest, k.bundle.content);
	return 0;
}

/* Whether the code has what the manifest declares. */
static int compare(const char *dir, struct known *k, struct error *err)
{
	const struct trial_pack pack = {.dir = dir, .pin = k->bundle.digest};
	auto_trial_report struct trial_report report = {0};
	struct trial_limits limits;
	autofree char *work = NULL;

	trial_limits_init(&limits);
	if (cli_trial_work(&work, err) < 0 || trial_check(&pack, &limits, work, &report, err) < 0)
		return -1;
	if (report.outcome != TRIAL_COMPLETED)
		faults_add(&k->faults, "%s: %s", trial_outcome_name(report.outcome), report.detail);
	return 0;
}

static int run_check(void *values, char **argv)
{
	const struct values *v = values;
	struct known CLEANUP(known_finish) k = {0};
	struct error err;

	if (!cli_words_are(argv, 1, 1, "pack check DIR"))
		return STATUS_USAGE;
	if (know(argv[0], true, &k, &err) < 0 ||
		(v->run && !k.faults.count && compare(argv[0], &k, &err) < 0))
		return cli_fail(&err, STATUS_USAGE);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "faults", faults_json(&k));
		cli_print_json(o);
		return k.faults.count ? STATUS_NO : 0;
	}
	if (!k.faults.count)
		printf("%s %s: as its manifest says\n", text_at(k.manifest, "pack", "name"),
			text_at(k.manifest, "pack", "version"));
	return tell_faults(&k, argv[0]);
}

static int run_show(void *values, char **argv)
{
	const struct values *v = values;
	struct known CLEANUP(known_finish) k = {0};
	struct error err;

	if (!cli_words_are(argv, 1, 1, "pack show DIR"))
		return STATUS_USAGE;
	if (know(argv[0], true, &k, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (v->json) {
		json_t *o = json_object(), *files = json_array();

		for (size_t i = 0; i < k.bundle.count; i++)
			json_add(files, json_bytes(k.bundle.paths[i], strlen(k.bundle.paths[i])));
		json_put(o, "name", json_str(text_at(k.manifest, "pack", "name")));
		json_put(o, "version", json_str(text_at(k.manifest, "pack", "version")));
		json_put(o, "description", json_str(text_at(k.manifest, "pack", "description")));
		json_put(o, "bundle_hash", json_str(k.bundle.digest));
		json_put(o, "content_hash", json_str(k.bundle.content));
		json_put(o, "bytes", json_u64(k.bundle.bytes));
		json_put(o, "files", files);
		json_put(o, "faults", faults_json(&k));
		cli_print_json(o);
		return k.faults.count ? STATUS_NO : 0;
	}
	printf("%s %s: %s\n%s bundle\n%s content\n", text_at(k.manifest, "pack", "name"),
		text_at(k.manifest, "pack", "version"), text_at(k.manifest, "pack", "description"),
		k.bundle.digest, k.bundle.content);
	for (size_t i = 0; i < k.bundle.count; i++)
		printf("%s\n", k.bundle.paths[i]);
	return tell_faults(&k, argv[0]);
}

const struct cli_command command_pack_new = {
	.name = "pack new",
	.arguments = "DIR",
	.summary = "Make a pack that works as it is",
	.details = "Prints the hash that a trial of it is pinned with.\n",
	.options = making,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_new,
	.usage_status = 2,
};

const struct cli_command command_pack_hash = {
	.name = "pack hash",
	.arguments = "DIR",
	.summary = "Print the two hashes of a pack",
	.details =
		"The first is the bundle's, which pins a trial; the second is the content's, for "
		"the manifest.\nThe status is 1 for what has no hash: symbolic links, names that "
		"are "
		"not NFC.\n",
	.options = none,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_hash,
	.usage_status = 2,
};

const struct cli_command command_pack_check = {
	.name = "pack check",
	.arguments = "DIR",
	.summary = "Check a pack's manifest against its rules and its files",
	.details =
		"Every fault is told, and the status is then 1. With --run its program is started, "
		"as a\ntrial would, and what it says that it has is compared with the manifest.\n",
	.options = checking,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_check,
	.usage_status = 2,
};

const struct cli_command command_pack_show = {
	.name = "pack show",
	.arguments = "DIR",
	.summary = "Show what a pack is and the files that its hash covers",
	.options = none,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_show,
	.usage_status = 2,
};
