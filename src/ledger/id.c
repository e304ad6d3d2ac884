/* SPDX-License-Identifier: Apache-2.0 */
/* Names of runs (ULIDs) and of events (evt_001), and the time of day of a run's making. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/random.h"
#include "base/str.h"
#include "ledger/inside.h"

/*
 * 48 bits of milliseconds since 1970, then 80 random ones, the highest bit first, five a character
 * (github.com/ulid/spec): 130 bits, of which the first two are 0.
 */
void ledger_ulid(char ret[LEDGER_ULID])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	uint64_t ms = clock_host_real_ns() / 1000000;
	char random[17];

	for (int i = 9; i >= 0; i--, ms >>= 5)
		ret[i] = digits[ms & 31];
	for (int i = 10; i < LEDGER_ULID - 1; i++) {
		/* One hexadecimal digit is four of the five bits; another one has the fifth. */
		random_hex(random, 2);
		unsigned high =
			(unsigned)(strchr("0123456789abcdef", random[0]) - "0123456789abcdef");

		ret[i] = digits[high << 1 | (random[1] < '8')];
	}
	ret[LEDGER_ULID - 1] = '\0';
}

void ledger_choose_id(struct ledger *l, const unsigned char bytes[LEDGER_ULID - 1])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

	for (int i = 0; i < LEDGER_ULID - 1; i++)
		l->next_id[i] = digits[bytes[i] & (i == 0 ? 7 : 31)];
	l->next_id[LEDGER_ULID - 1] = '\0';
}

void ledger_take_id(struct ledger *l, char ret[LEDGER_ULID])
{
	if (l->next_id[0])
		memcpy(ret, l->next_id, LEDGER_ULID);
	else
		ledger_ulid(ret);
	l->next_id[0] = '\0';
}

void ledger_now(char ret[LEDGER_TIME_SIZE])
{
	uint64_t now = clock_host_real_ns();

	num_format_time(ret, now - now % NUM_SECOND_NS);
}

void ledger_id_format(char ret[LEDGER_ID_SIZE], uint64_t number)
{
	snprintf(ret, LEDGER_ID_SIZE, "evt_%03" PRIu64, number);
}

bool ledger_id_is_counted(const char *id, uint64_t *ret_number)
{
	char again[LEDGER_ID_SIZE];
	struct error err;
	uint64_t number;

	if (!str_has_prefix(id, "evt_") ||
		num_parse_u64(id + 4, LEDGER_NUMBER_MAX, &number, &err) < 0)
		return false;
	ledger_id_format(again, number);
	if (number == 0 || strcmp(again, id) != 0)
		return false;
	*ret_number = number;
	return true;
}
