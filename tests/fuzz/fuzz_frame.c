/* SPDX-License-Identifier: Apache-2.0 */
/* Control frames from a supervisor that a guest has taken over: the host takes them or refuses. */
#include <stddef.h>
#include <stdint.h>

#include "wire/channel.h"
#include "run/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say_nothing(const char *line)
{
	(void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_channel struct channel c = {.fd = -1};
	auto_one_result struct one_result result = {0};
	auto_decisions struct decisions decisions;
	struct frames_state seen = {0};
	struct one_spec spec = {.decisions = &decisions, .say = say_nothing};
	struct bytes_reader payload;
	struct error err;
	uint32_t type;

	decisions_init(&decisions);
	bytes_put(&c.in, data, size);
	while (channel_next(&c, &type, &payload, &err) > 0)
		if (frames_take(&spec, &result, &seen, type, &payload, &err) < 0)
			break;
	return 0;
}
