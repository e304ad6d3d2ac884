/* SPDX-License-Identifier: Apache-2.0 */
/* MSG_WAITALL on unix streams, where what arrives may bring descriptors and credentials along. */
#ifndef SUPERVISE_SYS_MSGALL_H
#define SUPERVISE_SYS_MSGALL_H

#include "supervise/engine/call.h"
#include "supervise/io/fdkind.h"

/* A recvmsg that waits for all it has room for, piece by piece, each taken by the guest itself. */
enum act msgall_receive(struct task *t, struct call *c, const struct gfd *g);

#endif
