/* SPDX-License-Identifier: Apache-2.0 */
/* The files that one run's guest wrote: see written.h. */
#include "run/written.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "base/mem.h"

int written_open(const struct contract *c, const struct one_result *r, struct written *ret,
	struct error *err)
{
	autofree char *source = NULL;
	bool is_overlay = true;
	int root = r->launch ? launch_copy_fd(r->launch, &is_overlay) : -1;

	if (root < 0)
		return 0;
	source = contract_copy_source(c);
	*ret = (struct written){.base = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	/* A workdir that the image does not have begins empty. */
	if (ret->base < 0 && !(c->rootfs && errno == ENOENT))
		return error_sys(err, "open '%.300s'", source);
	ret->source = (struct tree_source){.root = root,
		.base = ret->base,
		.is_overlay = is_overlay,
		.is_ours = true,
		/* Without determinism every time is the host's, and says nothing. */
		.has_times = c->deterministic,
		.real_from_ns = r->real_from_ns,
		.real_to_ns = r->real_to_ns,
		.now_ns = r->counts.clock_final_ns};
	return 1;
}

void written_close(struct written *w)
{
	fd_close(&w->base);
}

int written_digest(const struct contract *c, const struct one_result *r, int listing,
	char ret[DIGEST_TEXT], struct error *err)
{
	auto_written struct written w = {.base = -1};
	int has = written_open(c, r, &w, err);

	ret[0] = '\0';
	if (has > 0 && tree_digest(&w.source, listing, ret, err) < 0)
		return error_wrap(err, "read what the program wrote");
	return has < 0 ? -1 : 0;
}
