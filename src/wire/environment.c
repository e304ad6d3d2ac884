/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's environment: see environment.h and docs/format/contract. */
#include "wire/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"

#define GUEST_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Takes entry. */
static void put(struct contract *c, char *entry)
{
	size_t name_len = (size_t)(strchrnul(entry, '=') - entry) + 1, count = 0;

	for (; c->env && c->env[count]; count++)
		if (strncmp(c->env[count], entry, name_len) == 0) {
			free(c->env[count]);
			c->env[count] = entry;
			return;
		}
	c->env = mem_grow(c->env, count + 2, sizeof(*c->env));
	c->env[count] = entry;
	c->env[count + 1] = NULL;
}

void environment_init(struct contract *c)
{
	static const char *const fixed[] = {"TZ=UTC", "LC_ALL=C.UTF-8", "PYTHONHASHSEED=0",
		"GODEBUG=randautoseed=0", "MALLOC_ARENA_MAX=1"};

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		put(c, mem_strdup(fixed[i]));
	put(c, str_format("SOURCE_DATE_EPOCH=%llu",
		       (unsigned long long)(c->epoch_ns / NUM_SECOND_NS)));
	put(c, mem_strdup("HOME=/tmp"));
	put(c, mem_strdup("PATH=" GUEST_PATH));
	if (c->tty)
		put(c, mem_strdup("TERM=xterm-256color"));
}

int environment_add(struct contract *c, const char *const *entries, size_t count, const char *what,
	struct error *err)
{
	enum { OWN = 16 };

	if (count > CONTRACT_ARGS_MAX - OWN)
		return error_set(err, ERR_LIMIT, "%zu %s entries; the limit is %d", count, what,
			CONTRACT_ARGS_MAX - OWN);
	for (size_t i = 0; i < count; i++) {
		if (entries[i][0] == '=' || !strchr(entries[i], '='))
			return error_set(err, ERR_USAGE,
				"%s '%.200s' is not NAME=VALUE (nothing is inherited; write the "
				"value out)",
				what, entries[i]);
		put(c, mem_strdup(entries[i]));
	}
	return 0;
}
