/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a container runtime will do: see container.h. */
#include "doctor/container.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/str.h"
#include "doctor/tries.h"
#include "oci/client.h"
#include "oci/oci.h"

/* The supervisor is the one program that is in every container of ours. */
#define PROGRAM "/.sandglass/supervise"

enum { RUN_MS = 120000, WORDS_MAX = 16 };

static struct doctor_finding *add(struct container_report *r, const char *name)
{
	struct container_row *row =
		&r->rows[r->count < CONTAINER_ROWS_MAX - 1 ? r->count++ : r->count];

	*row = (struct container_row){0};
	snprintf(row->name, sizeof(row->name), "%s", name);
	return &row->finding;
}

/* Our own run in a container: its wait status, and what it wrote (caller frees); -1. */
static int run_inside(const char *const *words, const char *runtime, const char *image,
	char **ret_out, char **ret_err)
{
	static const char *const start[] = {
		"/proc/self/exe", "run", "--allow-tag", "--entrypoint", ""};
	auto_client struct client c = CLIENT_NONE;
	char *argv[WORDS_MAX] = {NULL};
	struct error err;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(start); i++)
		argv[n++] = mem_strdup(start[i]);
	argv[n++] = str_format("--runtime=%s", runtime);
	argv[n++] = str_format("--image=%s", image);
	for (; *words && n < WORDS_MAX - 1; words++)
		argv[n++] = mem_strdup(*words);
	int r = client_start(&c, argv, &err);
	for (size_t i = 0; i < n; i++)
		mem_cleanup(&argv[i]);
	if (r < 0 || client_wait(&c, RUN_MS, &err) <= 0 || client_text(c.out, ret_out, &err) < 0 ||
		client_text(c.err, ret_err, &err) < 0)
		return -1;
	return c.status;
}

static void tell_first_line(struct doctor_finding *f, const char *text)
{
	autofree char *line = str_printable(text, strcspn(text, "\n"), 300);

	finding_set(f, DOCTOR_MISSING, "%s", *line ? line : "it says nothing about why");
}

/* A line of the supervisor's probe: name, level and detail. */
static void take_line(struct container_report *r, char *line)
{
	char *word = strchr(line, '\t'), *detail = word ? strchr(word + 1, '\t') : NULL;

	if (!detail)
		return;
	*word++ = *detail++ = '\0';
	for (int l = 0; l < DOCTOR_LEVELS; l++)
		if (strcmp(word, doctor_level_name((enum doctor_level)l)) == 0)
			finding_set(add(r, line), (enum doctor_level)l, "%s", detail);
}

/* What the supervisor can do in there, and what the runtime says of the limits. */
static bool try_probe(struct container_report *r, const char *runtime, const char *image)
{
	static const char *const words[] = {"--no-determinism", "--", PROGRAM, "--probe", NULL};
	autofree char *out = NULL, *err = NULL;
	int status = run_inside(words, runtime, image, &out, &err);
	const char *warning;
	char *rest, *line;

	if (status != 0 && (status < 0 || !out || !strchr(out, '\t'))) {
		tell_first_line(add(r, "container"), err ? err : "");
		return false;
	}
	finding_set(add(r, "container"), DOCTOR_OK, "one was made, and is gone");
	warning = strstr(err, "degraded: ");
	if (warning) {
		autofree char *text = str_printable(warning, strcspn(warning, "\n"), 300);

		finding_set(add(r, "limits"), DOCTOR_DEGRADED, "%s", text);
	} else {
		finding_set(add(r, "limits"), DOCTOR_OK, "the runtime took all, without a warning");
	}
	for (rest = out; (line = strsep(&rest, "\n")) != NULL;)
		take_line(r, line);
	return true;
}

/* Any program will do: the supervisor itself refuses to be a guest, always with the same words. */
static void try_guest(struct container_report *r, const char *runtime, const char *image)
{
	static const char *const words[] = {"--", PROGRAM, NULL};
	autofree char *out = NULL, *err = NULL;
	int status = run_inside(words, runtime, image, &out, &err);
	struct doctor_finding *f = add(r, "run");

	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 125 &&
		strstr(err, "sandglass-supervise: started by"))
		finding_set(f, DOCTOR_OK, "a program ran deterministically");
	else
		tell_first_line(f, err ? err : "");
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 121)
		f->level = DOCTOR_DEGRADED;
}

void container_try(const char *runtime, const char *image, struct container_report *ret)
{
	auto_oci_image struct oci_image i = {.image.lock = -1};
	auto_oci struct oci o = {0};
	autofree char *version = NULL;
	struct error err;

	*ret = (struct container_report){0};
	if (oci_open(runtime, &o, &err) < 0 || oci_check(&o, &version, &err) < 0) {
		finding_set(add(ret, "runtime"), DOCTOR_MISSING, "%.470s", err.msg);
		return;
	}
	finding_set(add(ret, "runtime"), DOCTOR_OK, "%s answers: %.100s", o.dialect->name, version);
	if (!image)
		return;
	if (oci_image_find(&o, image, &i, &err) < 0) {
		finding_set(add(ret, "image"), DOCTOR_MISSING, "%.470s", err.msg);
		return;
	}
	finding_set(add(ret, "image"), DOCTOR_OK, "it is there, for %s, as the supervisor is",
		i.image.config.architecture ? i.image.config.architecture
					    : "no machine in particular");
	if (i.is_pinned)
		finding_set(add(ret, "pinned"), DOCTOR_OK, "the reference names a digest");
	else
		finding_set(add(ret, "pinned"), DOCTOR_DEGRADED,
			"the reference may name another image tomorrow; now it is %.300s",
			i.pinned);
	if (try_probe(ret, o.dialect->name, image))
		try_guest(ret, o.dialect->name, image);
}

enum doctor_level container_verdict(const struct container_report *r)
{
	enum doctor_level worst = DOCTOR_OK;

	for (size_t i = 0; i < r->count; i++)
		if (r->rows[i].finding.level > worst)
			worst = r->rows[i].finding.level;
	return worst == DOCTOR_UNTRIED ? DOCTOR_OK : worst;
}
