/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container is given from this host, in a directory of its own for the time of one run: the
 * socket, the fixed files, the seccomp profile. Nobody but us and root can look in, and what is
 * bound from it is read-only. A janitor removes it, and the container, when we are killed.
 */
#ifndef OCI_STAGE_H
#define OCI_STAGE_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/janitor.h"
#include "oci/words.h"
#include "wire/contract.h"

/* Names in it. */
#define STAGE_INSIDE \
	"inside" /* bound at STAGE_POINT: the socket, and a place for the supervisor \
		  */
#define STAGE_SOCKET "socket"
#define STAGE_SUPERVISOR "supervise"
#define STAGE_PROFILE "seccomp.json"
#define STAGE_CID "cid"
#define STAGE_SYS "sys"
#define STAGE_ETC "etc"
#define STAGE_CPUINFO "cpuinfo"
/* In the container. */
#define STAGE_POINT "/.sandglass"

struct stage {
	char *dir; /* absolute; NULL: none */
	int listener;
	struct janitor janitor;
};

#define STAGE_NONE ((struct stage){.listener = -1, .janitor = {.dismissal = -1}})

/* Makes the directory alone. */
MUST_CHECK int stage_init(struct stage *ret, struct error *err);
/* Fills it for this contract, and listens. */
MUST_CHECK int stage_fill(struct stage *s, const struct contract *c, struct error *err);
/* When we die the janitor runs this command until there is nothing left to remove; the words are
 * not needed afterwards. */
MUST_CHECK int stage_guard(struct stage *s, const struct words *removal, struct error *err);
/* Nobody else can connect. */
void stage_close(struct stage *s);
void stage_finish(struct stage *s);
#define auto_stage CLEANUP(stage_finish)

#endif
