/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass backends: where sessions can live, and what each offers on this host. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static json_t *describe(const struct sandbox_driver *d, const struct sandbox_probe *p)
{
	json_t *object = json_object(), *capabilities = json_array();

	for (unsigned i = 0; i < SANDBOX_CAPABILITY_COUNT; i++)
		if (d->capabilities & 1U << i)
			json_add(capabilities, json_str(sandbox_capability_name(i)));
	json_put(object, "name", json_str(d->name));
	json_put(object, "summary", json_str(d->summary));
	json_put(object, "isolation", json_str(sandbox_tier_name(d->tier)));
	json_put(object, "capabilities", capabilities);
	json_put(object, "warning", d->warning ? json_str(d->warning) : json_null());
	json_put(object, "available", json_boolean(p->available));
	json_put(object, "detail", json_str(p->detail));
	return object;
}

static void print_text(const struct sandbox_driver *d, const struct sandbox_probe *p)
{
	printf("%s: %s\n  isolation: %s\n  capabilities:", d->name, d->summary,
		sandbox_tier_name(d->tier));
	for (unsigned i = 0; i < SANDBOX_CAPABILITY_COUNT; i++)
		if (d->capabilities & 1U << i)
			printf(" %s", sandbox_capability_name(i));
	printf("\n");
	if (d->warning)
		printf("  warning: %s\n", d->warning);
	if (!p->available)
		printf("  not available here: %s\n", p->detail);
}

static int run(void *values, char **words)
{
	const struct values *v = values;
	size_t count;
	const struct sandbox_driver *const *drivers = sandbox_drivers(&count);
	auto_json json_t *all = json_array();
	autofree char *text = NULL;
	struct error err = {0};

	if (!cli_words_are(words, 0, 0, "backends"))
		return STATUS_USAGE;
	for (size_t i = 0; i < count; i++) {
		struct sandbox_probe p;

		if (drivers[i]->probe(&p, &err) < 0)
			return cli_fail(&err, STATUS_USAGE);
		json_add(all, describe(drivers[i], &p));
		if (!v->json)
			print_text(drivers[i], &p);
	}
	text = json_text(all);
	if (v->json)
		puts(text);
	return 0;
}

const struct cli_command command_backends = {
	.name = "backends",
	.arguments = "",
	.summary = "List where sessions can live",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.run = run,
	.usage_status = STATUS_USAGE,
};
