/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatch array, made from wire/syscalls.def. */
#include <stddef.h>

#include "supervise/engine/handlers.h"

enum { NR_MAX = 512 };

static const struct syscall_row rows[] = {
#define SYSCALL(name, verdict, enter, leave, note) \
	{#name, NR_##name, VERDICT_##verdict, enter_##enter, leave_##leave},
#include "wire/syscalls.def"
#undef SYSCALL
};

static const struct syscall_row *by_number[NR_MAX];

void call_init(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].nr >= 0)
			by_number[rows[i].nr] = &rows[i];
}

const struct syscall_row *call_row(int nr)
{
	return nr >= 0 && nr < NR_MAX ? by_number[nr] : NULL;
}

const struct syscall_row *call_rows(int *ret_count)
{
	*ret_count = ARRAY_LEN(rows);
	return rows;
}

enum act enter_native(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
	return ACT_NATIVE;
}

void leave_none(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
}
