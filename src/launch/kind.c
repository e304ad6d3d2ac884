/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a container, whoever made it: see launch.h. */
#include "launch/kind.h"

int launch_terminal(struct launch *l)
{
	return l->kind->terminal(l);
}

int launch_lost_fd(const struct launch *l)
{
	return l->kind->lost_fd(l);
}

int launch_copy_fd(const struct launch *l, bool *ret_is_overlay)
{
	return l->kind->copy_fd(l, ret_is_overlay);
}

const struct launch_degraded *launch_degraded(const struct launch *l, size_t *ret_count)
{
	return l->kind->degraded(l, ret_count);
}

bool launch_needs_memory_watch(const struct launch *l)
{
	return l->kind->needs_memory_watch(l);
}

int launch_nudge(struct launch *l, struct error *err)
{
	return l->kind->nudge(l, err);
}

void launch_kill(struct launch *l)
{
	l->kind->kill(l);
}

int launch_wait(struct launch *l, int *ret_status, struct error *err)
{
	return l->kind->wait(l, ret_status, err);
}

bool launch_was_oom(const struct launch *l)
{
	return l->kind->was_oom(l);
}

void launch_free(struct launch *l)
{
	if (l)
		l->kind->free(l);
}

void launch_cleanup(struct launch **l)
{
	launch_free(*l);
	*l = NULL;
}
