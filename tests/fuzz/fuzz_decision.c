/* SPDX-License-Identifier: Apache-2.0 */
/* Two streams of decisions, the input's halves: compared, and told where they part. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/decisions.h"
#include "run/difference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct decisions *d, const uint8_t *data, size_t size)
{
	struct bytes_reader r = bytes_reader(data, size);
	struct error err;

	if (decisions_add(d, &r, &err) < 0)
		abort();
}

static void tell(bool has, const struct decision *d)
{
	autofree char *text = has ? difference_decision_text(d) : NULL;

	if (has && strlen(text) > 500)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2 / DECISION_SIZE * DECISION_SIZE;
	auto_decisions struct decisions first, second;
	struct decisions_difference d;
	struct error err;
	int differs;

	decisions_init(&first);
	decisions_init(&second);
	second.reference = &first;
	if (decisions_keep(&first, &err) < 0)
		abort();
	add(&first, data, half);
	add(&second, data + half, half / DECISION_SIZE > 1 ? DECISION_SIZE : 0);
	add(&second, data + half + (half / DECISION_SIZE > 1 ? DECISION_SIZE : 0),
		half - (half / DECISION_SIZE > 1 ? DECISION_SIZE : 0));
	differs = decisions_compare(&second, &d, &err);
	if (differs < 0 || differs != (memcmp(data, data + half, half) != 0))
		abort();
	if (differs) {
		tell(d.has_first, &d.first);
		tell(d.has_second, &d.second);
	}
	return 0;
}
