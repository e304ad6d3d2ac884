/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass doctor: whether this host can run programs deterministically, and what to do. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"
#include "doctor/container.h"
#include "doctor/doctor.h"

struct values {
	const char *runtime, *image;
	bool json;
};

static const struct cli_option options[] = {
	{"runtime", CLI_TEXT, "auto|docker|podman|nerdctl",
		"try this container runtime instead of the host", offsetof(struct values, runtime)},
	{"image", CLI_TEXT, "REF", "with --runtime: try a container of this image",
		offsetof(struct values, image)},
	{0},
};

/* There is something to say besides what was found. */
static bool is_bad(enum doctor_level l)
{
	return l == DOCTOR_DEGRADED || l == DOCTOR_MISSING;
}

static json_t *finding_json(const struct doctor_report *r, enum doctor_check c)
{
	const struct doctor_finding *f = &r->findings[c];
	bool bad = is_bad(f->level);
	json_t *o = json_object();

	json_put(o, "check", json_str(doctor_name(c)));
	json_put(o, "what", json_str(doctor_what(c)));
	json_put(o, "level", json_str(doctor_level_name(f->level)));
	json_put(o, "detail", json_bytes(f->detail, strlen(f->detail)));
	json_put(o, "means", bad ? json_str(doctor_means(c)) : json_null());
	json_put(o, "remedy", bad ? json_str(doctor_remedy(r, c)) : json_null());
	return o;
}

static void print_json(const struct doctor_report *r)
{
	auto_json json_t *o = json_object();
	json_t *checks = json_array();
	autofree char *text = NULL;

	for (int i = 0; i < DOCTOR_CHECKS; i++)
		json_add(checks, finding_json(r, (enum doctor_check)i));
	json_put(o, "format", json_str("sandglass.doctor/1"));
	json_put(o, "verdict", json_str(doctor_level_name(doctor_verdict(r))));
	json_put(o, "privileged", json_boolean(r->as_root));
	json_put(o, "checks", checks);
	text = json_text(o);
	printf("%s\n", text);
}

static void print_table(const struct doctor_report *r)
{
	static const char *const verdicts[DOCTOR_LEVELS] = {
		[DOCTOR_OK] = "This host runs programs deterministically.",
		[DOCTOR_DEGRADED] =
			"This host runs programs deterministically, within what is degraded above.",
		[DOCTOR_MISSING] = "This host cannot run programs: see what is missing above.",
	};

	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		enum doctor_check c = (enum doctor_check)i;
		const struct doctor_finding *f = &r->findings[c];

		printf("%-9s %-29s %s\n", doctor_level_name(f->level), doctor_what(c), f->detail);
		if (is_bad(f->level))
			printf("%-9s   it means: %s\n%-9s   what to do: %s\n", "", doctor_means(c),
				"", doctor_remedy(r, c));
	}
	printf("\n%s\n", verdicts[doctor_verdict(r)]);
}

static void print_container(const struct container_report *r, bool json)
{
	auto_json json_t *o = json_object();
	json_t *checks = json_array();
	autofree char *text = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const struct container_row *row = &r->rows[i];
		const char *level = doctor_level_name(row->finding.level);
		json_t *one = json_object();

		if (!json)
			printf("%-9s %-14s %s\n", level, row->name, row->finding.detail);
		json_put(one, "check", json_str(row->name));
		json_put(one, "level", json_str(level));
		json_put(one, "detail",
			json_bytes(row->finding.detail, strlen(row->finding.detail)));
		json_add(checks, one);
	}
	json_put(o, "format", json_str("sandglass.doctor-container/1"));
	json_put(o, "verdict", json_str(doctor_level_name(container_verdict(r))));
	json_put(o, "checks", checks);
	text = json_text(o);
	if (json)
		printf("%s\n", text);
}

static int run(void *values, char **words)
{
	static const int statuses[DOCTOR_LEVELS] = {
		[DOCTOR_OK] = 0, [DOCTOR_DEGRADED] = 1, [DOCTOR_MISSING] = 2};
	const struct values *v = values;
	struct doctor_report r;

	if (!cli_words_are(words, 0, 0, "doctor"))
		return STATUS_USAGE;
	if (v->image && !v->runtime) {
		cli_say("doctor: --image goes with --runtime");
		return STATUS_USAGE;
	}
	if (v->runtime) {
		struct container_report c;

		container_try(v->runtime, v->image, &c);
		print_container(&c, v->json);
		return statuses[container_verdict(&c)];
	}
	doctor_try(&r);
	if (v->json)
		print_json(&r);
	else
		print_table(&r);
	return statuses[doctor_verdict(&r)];
}

const struct cli_command command_doctor = {
	.name = "doctor",
	.arguments = "",
	.summary = "Try whether this host can run programs deterministically",
	.details =
		"Tries each mechanism that a run stands on, from the current directory and as "
		"the user that you are. What\n"
		"is not as it should be comes with what that means for a run, and what to do.\n"
		"\n"
		"Exit status: 0 all is well, 1 something is weaker than it could be, 2 no run is "
		"possible\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.run = run,
	.usage_status = STATUS_USAGE,
};
