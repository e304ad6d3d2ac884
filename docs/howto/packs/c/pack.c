/* SPDX-License-Identifier: Apache-2.0 */
/* The code of the pack, as a shared object: make pack.so. docs/format/pack.md. */
#include <stdio.h>
#include <string.h>

#include "sandglass_pack.h"

static int greet(const struct sandglass_runtime_v1 *rt, const char *behavior, const char *event)
{
	const char *name = strstr(event, "\"name\": \"");
	char payload[256];

	(void)behavior;
	name = name ? name + 9 : "";
	snprintf(payload, sizeof(payload), "{\"text\": \"hello, %.*s\"}", (int)strcspn(name, "\""),
		name);
	return rt->append(rt, "greeting.given", payload);
}

/* --scenario pack.so runs it; pack.so::NAME would run sandglass_scenario_NAME. */
SANDGLASS_PACK_EXPORT int sandglass_scenario_main(const struct sandglass_runtime_v1 *rt)
{
	return rt->append(rt, "greeting.asked", "{\"name\": \"world\"}") < 0
		       ? -1
		       : rt->run_until_idle(rt);
}

SANDGLASS_PACK_EXPORT const struct sandglass_pack_v1 sandglass_pack_v1 = {
	.size = sizeof(struct sandglass_pack_v1),
	.surface = "{\"name\": \"example\", \"version\": \"0.1.0\", \"behaviors\": "
		   "[{\"name\": \"greet\", \"on\": [\"greeting.asked\"]}]}",
	.behavior = greet,
};
