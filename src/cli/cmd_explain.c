/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass explain: why a run was not reproducible, and what to do. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "codec/json.h"
#include "wire/reasons.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static json_t *reason_json(enum reason r)
{
	const struct reason_info *info = reason_info(r);
	json_t *o = json_object();

	json_put(o, "reason", json_str(info->code));
	json_put(o, "fatal", json_boolean(info->fatal));
	json_put(o, "why", json_str(info->why));
	json_put(o, "remedy", json_str(info->remedy));
	json_put(o, "example", json_str(info->example));
	return o;
}

static void print_value(json_t *value)
{
	auto_json json_t *owned = value;
	autofree char *text = json_text(owned);

	printf("%s\n", text);
}

static int list_all(bool json)
{
	json_t *list = json ? json_array() : NULL;

	for (int r = 0; r < REASON_COUNT; r++) {
		if (json)
			json_add(list, reason_json((enum reason)r));
		else
			printf("%-20s %s\n", reason_info((enum reason)r)->code,
				reason_info((enum reason)r)->why);
	}
	if (json)
		print_value(list);
	return 0;
}

static int unknown(const char *code)
{
	const char *names[REASON_COUNT], *near;
	autofree char *safe = str_printable(code, strlen(code), 60), *line = NULL;
	autofree char *lower = mem_strdup(code);

	for (char *p = lower; *p; p++)
		*p = *p == '-' ? '_' : *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;

	for (int r = 0; r < REASON_COUNT; r++)
		names[r] = reason_info((enum reason)r)->code;
	near = cli_nearest(lower, names, REASON_COUNT);
	line = near ? str_format("unknown reason '%s'; did you mean '%s'?", safe, near)
		    : str_format("unknown reason '%s'; 'sandglass explain' lists them", safe);
	cli_say(line);
	return 2;
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	const struct reason_info *info;
	enum reason r;

	if (!argv[0])
		return list_all(v->json);
	if (!reason_find(argv[0], &r))
		return unknown(argv[0]);
	info = reason_info(r);
	if (v->json)
		print_value(reason_json(r));
	else
		printf("%s: %s.\n%s\nWhat to do: %s.\nFor example: %s.\n", info->code, info->why,
			info->fatal ? "The run exits 121 when this happens."
				    : "The report names it; the exit status does not change.",
			info->remedy, info->example);
	return 0;
}

const struct cli_command command_explain = {
	.name = "explain",
	.arguments = "[REASON]",
	.summary = "Say why a run was not reproducible, and what to do",
	.details = "REASON is a code of `not_enforced` or `assumptions` in the report. Without "
		   "one, all are listed.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
