/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket pair between the launcher and init before exec. The launcher says go on; init sends a
 * descriptor or a whole error; the end of the stream without an error is a successful exec.
 * Nothing here allocates.
 */
#ifndef LAUNCH_LINK_H
#define LAUNCH_LINK_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"

enum link_kind {
	LINK_GO,    /* launcher: the id maps and the cgroups are there; or the copy is complete */
	LINK_UPPER, /* init: the written layer, an overlay */
	LINK_COPY,  /* init: an empty directory that the launcher must fill */
	LINK_TTY,   /* init: the master of the guest's terminal */
	LINK_ERROR, /* init: why it gave up */
	LINK_END,   /* never sent: the other end is closed */
};

struct link_message {
	enum link_kind kind;
	struct error error;
};

MUST_CHECK int link_open(int ret_pair[2], struct error *err);
/* Sends one message, with a descriptor unless fd is -1. */
MUST_CHECK int link_send(
	int link, enum link_kind kind, int fd, const struct error *what, struct error *err);
/*
 * Receives one message; *ret_fd is owned by the caller, -1 when there was none. A LINK_ERROR is
 * returned as that very error.
 */
MUST_CHECK int link_recv(int link, enum link_kind *ret_kind, int *ret_fd, struct error *err);
/* True when the other end is closed; never blocks. */
bool link_is_closed(int link);

#endif
