/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass config show: every setting, and where its value comes from. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "cli/store.h"
#include "config/settings.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static int show(const char *name, json_t *all, struct error *err)
{
	autofree char *value = NULL, *safe = NULL;
	enum settings_layer layer;
	int found = settings_find_layer(name, &value, &layer, err);
	json_t *o;

	if (found < 0)
		return -1;
	if (!all) {
		safe = found ? str_printable(value, strlen(value), 1000) : mem_strdup("(not set)");
		printf("%s = %s  (%s)\n", name, safe,
			settings_layer_name(found ? layer : SETTINGS_DEFAULT));
		return 0;
	}
	o = json_object();
	json_put(o, "source", json_str(settings_layer_name(found ? layer : SETTINGS_DEFAULT)));
	json_put(o, "value", found ? json_str(value) : json_null());
	json_put(all, name, o);
	return 0;
}

static int run_show(void *values, char **argv)
{
	const struct values *v = values;
	auto_json json_t *all = v->json ? json_object() : NULL;
	struct error err;

	if (!cli_words_are(argv, 0, 0, "config show"))
		return 2;
	for (size_t i = 0; settings_name(i); i++)
		if (show(settings_name(i), all, &err) < 0)
			return cli_fail(&err, 2);
	if (all)
		cli_print_json(json_incref(all));
	return 0;
}

const struct cli_command command_config_show = {
	.name = "config show",
	.arguments = "",
	.summary = "Show every setting and where its value comes from",
	.details = "The environment comes before .sandglass/config.json of the current directory, "
		   "that before the\nuser's config.json, that before /etc/sandglass/config.json.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_show,
	.usage_status = 2,
};
