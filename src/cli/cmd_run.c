/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass run: a program in the sandbox, once or, to verify, twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attest/receipt.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/evidence.h"
#include "cli/saved.h"
#include "cli/signed.h"
#include "run/run.h"

struct values {
	struct run_options o; /* first: AT is of it */
	struct cli_saved saved;
};

#define AT(field) offsetof(struct run_options, field)

static const struct cli_option options[] = {
	{"rootfs", CLI_TEXT, "DIR",
		"the root file system, read-only; default: a view of the host's programs",
		AT(rootfs),
		"It has to hold the directories /dev, /proc, /sys and /tmp, which are mounted "
		"over."},
	{"image", CLI_TEXT, "REF@DIGEST",
		"run in a container image, whose files are the root, read-only", AT(image),
		"A reference as docker has it, with the digest of the manifest, of an index that "
		"leads "
		"to it, or of the config; a digest alone will do. The image has to be here "
		"already: "
		"sandglass-image(1). Its ENTRYPOINT, CMD, PATH, WORKDIR and USER are taken, other "
		"variables of it are not: give them by --env. Below its WORKDIR (or --workdir, "
		"which "
		"need not be there) it can write, which --out keeps, and in /tmp; the current "
		"directory is not shown."},
	{"runtime", CLI_TEXT, "auto|native|docker|podman|nerdctl",
		"who makes the container of an image; default: native", AT(runtime),
		"A runtime has to have the image already. auto is native where the image is in our "
		"own "
		"store, else the first runtime that has it. The program sees the same on all; what "
		"each isolates is under RUNTIMES."},
	{"dry-run", CLI_FLAG, NULL, "print the runtime's command line and run nothing",
		AT(dry_run)},
	{"allow-tag", CLI_FLAG, NULL,
		"take an image without a digest; the run says that it is not pinned",
		AT(allow_tag)},
	{"user", CLI_TEXT, "USER[:GROUP]",
		"with --image: names or numbers of the image; default: its USER", AT(user)},
	{"entrypoint", CLI_TEXT, "PROGRAM",
		"with --image: instead of its ENTRYPOINT; \"\" for none", AT(entrypoint)},
	{"bind-ro", CLI_LIST, "SRC[:DST]", "show a file or directory of the host, read-only",
		AT(bind_ro), "It is at DST, or at its own path."},
	{"bind", CLI_LIST, "SRC[:DST]",
		"share a file or directory with the host; what is written there is not "
		"reproducible",
		AT(bind),
		"What the host does there meanwhile is visible inside: such a run is reproducible "
		"only as far as nobody writes. When the program itself writes there, the status is "
		"121."},
	{"workdir", CLI_TEXT, "DIR", "where the program starts; default: the current directory",
		AT(workdir),
		"A path inside: absolute with --rootfs and --image, else from the current "
		"directory."},
	{"env", CLI_LIST, "NAME=VALUE", "set an environment variable; nothing is inherited",
		AT(env)},
	{"out", CLI_TEXT, "DIR", "copy what the program wrote into this new or empty directory",
		AT(out)},
	{"workflow-id", CLI_TEXT, "ID", "seed of everything random; default: sandbox",
		AT(workflow_id)},
	{"epoch", CLI_TEXT, "TIME",
		"what the clock says at the start: seconds or RFC 3339; default: "
		"2023-11-14T22:13:20Z",
		AT(epoch)},
	{"clock-step-ns", CLI_NUMBER, "N", "let the clock move by N ns whenever it is read",
		AT(clock_step_ns)},
	{"timers-after", CLI_DURATION, "TIME",
		"let the next timer come due when the program has computed for this much CPU time "
		"without a call; such a run is not reproducible; default: never",
		AT(timers_after_ns),
		"Computing takes no time inside, so a program that works until a timer comes due, "
		"as a "
		"benchmark does until its alarm, never ends. Without this option that is told "
		"after 10 "
		"seconds."},
	{"memory", CLI_SIZE, "SIZE", "memory limit, like 512M; default: 2G", AT(memory),
		"Sizes take K, M and G, by 1024."},
	{"pids", CLI_NUMBER, "N", "limit of processes and threads; default: 512", AT(pids)},
	{"timeout", CLI_DURATION, "TIME",
		"kill it after this much time of the host, like 30s; default: never",
		AT(timeout_ns), "The status is then 124."},
	{"network", CLI_TEXT, "none|host|allow=HOST:PORT,...",
		"which addresses outside it may connect to; default: none, loopback alone",
		AT(network),
		"With allow, those that are listed: HOST is a name, 192.0.2.1 or [2001:db8::1]. A "
		"connection to another is refused (EACCES), and said. What comes over them is "
		"recorded, so that a replay needs no network. See sandglass-determinism(7)."},
	{"record", CLI_TEXT, "TAPE", "record what comes from outside, for sandglass replay",
		AT(record)},
	{"journal", CLI_TEXT, "FILE",
		"record what comes in and what goes out, so that sandglass resume goes on when the "
		"run is killed",
		AT(journal),
		"It is on the disk before anything goes out, and else within a fifth of a second."},
	{"verify", CLI_FLAG, NULL, "run it twice under different conditions and compare",
		AT(verify),
		"Exit status, output, files written and every decision taken are compared. The "
		"output of the first run is printed once. On a difference the first one is named "
		"and the status is 122."},
	{"save", CLI_TEXT, "LABEL", "save it as a run of the ledger, with what came from outside",
		offsetof(struct values, saved.label),
		"The run's id is said on standard error. sandglass-runs(1) forks it at a record of "
		"its tape."},
	{"from", CLI_TEXT, "RUN",
		"go on from where this saved run, or a fork of one, ends: replay, then live",
		offsetof(struct values, saved.from),
		"The command and all that decides the run are the saved run's; a command that is "
		"given has to be the same. What comes in from there on is appended to the run."},
	{"store", CLI_TEXT, "FILE", "the ledger of --save and --from; default: the user's own",
		offsetof(struct values, saved.runs.store)},
	{"sched-seed", CLI_NUMBER, "N", "another order of tasks, the same every time for one N",
		AT(sched_seed)},
	{"switches", CLI_TEXT, "LIST",
		"force these switches between tasks, as sandglass explore prints them",
		AT(switches)},
	{"trace", CLI_TEXT, "FILE", "write a line for each decision of the run", AT(trace),
		"Calls and their answers, signals, switches. Two runs write the same."},
	{"report", CLI_TEXT, "FILE", "write a JSON report of the run", AT(report)},
	{"receipt", CLI_TEXT, "FILE", "write a signed receipt of the run", AT(receipt),
		"It is a statement of what happened, which sandglass-receipt(1) checks; what the "
		"program is given is digested into the contract. It needs a key: "
		"sandglass-key(1)."},
	{"digest-inputs", CLI_FLAG, NULL,
		"put digests of what the program is given into the contract, as --verify and "
		"--receipt do",
		AT(digest_inputs)},
	{"no-determinism", CLI_FLAG, NULL, "the container alone: real time, real randomness",
		AT(no_determinism)},
	{"print-contract", CLI_FLAG, NULL, "print the contract's JSON and run nothing",
		AT(print_contract)},
	{0},
};

/* The receipt of the run that the report is of. */
static int write_receipt(
	const char *path, const struct key *k, const char *report, struct error *err)
{
	auto_json json_t *value = NULL, *statement = NULL;
	struct key_public p;
	char id[KEY_ID_SIZE];
	json_t *details;

	if (json_read(report, strlen(report), SIZE_MAX, &value, err) < 0)
		return -1;
	statement = receipt_statement(value);
	if (cli_signed_write(path, k, statement, err) < 0)
		return error_wrap(err, "--receipt");
	key_public(k, &p);
	key_id(&p, id);
	details = json_object();
	json_put(details, "keyid", json_str(id));
	json_put(details, "enforced", json_incref(json_object_get(value, "enforced")));
	return cli_audit_record("receipt.signed", "run",
		json_string_value(json_object_get(value, "contract_digest")), details, err);
}

static int run(void *values, char **argv)
{
	struct values *v = values;
	struct run_options *o = &v->o;
	struct cli_saved_run CLEANUP(cli_saved_finish) saved = {0};
	autofree char *text = NULL;
	auto_key struct key *key = NULL;
	struct error err = {0};
	int status = 0, r;

	o->argv = argv;
	if (!argv[0] && !o->image && !v->saved.from) {
		cli_say("no command to run; for example: sandglass run -- date");
		return 125;
	}
	/* Who cannot sign learns it before the run, not after it. */
	if (o->receipt && !o->print_contract && !o->dry_run && cli_signing_key(&key, &err) < 0)
		return cli_fail(&err, 125);
	if (cli_saved_begin(&v->saved, o, &saved, &err) < 0)
		return cli_fail(&err, 125);
	r = o->print_contract ? run_contract_text(o, cli_say, &text, &err)
	    : o->dry_run      ? run_command_text(o, cli_say, &text, &err)
			      : run_execute(o, cli_say, &status, &text, &err);
	if (r == 0 && key && text)
		r = write_receipt(o->receipt, key, text, &err);
	if (r == 0)
		r = cli_saved_end(&saved, &err);
	if (r < 0)
		return cli_fail(&err, error_status(&err));
	if (o->print_contract || o->dry_run)
		printf("%s\n", text);
	else if (o->json && text)
		fprintf(stderr, "%s\n", text);
	return status;
}

const struct cli_command command_run = {
	.name = "run",
	.arguments = "[--] COMMAND [ARGUMENT...]",
	.summary = "Run a program so that it does the same every time",
	.details = "The program sees the host's /usr, /bin, /lib and a small /etc, read-only, and "
		   "the current directory as\n"
		   "a private copy: what it writes there is gone afterwards, unless --out keeps "
		   "it. Standard output is the\n"
		   "program's own; messages and --json go to standard error.\n"
		   "\n"
		   "Exit status: the program's own, 128+N when signal N killed it, or\n"
		   "  121  it ran, but something could not be made reproducible (said on standard "
		   "error)\n"
		   "  122  --verify: the two runs differ\n"
		   "  123  deadlock: every task waits for something that cannot happen\n"
		   "  124  --timeout\n"
		   "  125  wrong usage, set-up failed, or the supervisor died\n"
		   "  126  the program cannot be executed          127  it was not found\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.run = run,
	.usage_status = 125,
};
