/* SPDX-License-Identifier: Apache-2.0 */
/* TCP_INFO as a guest sees it. */
#ifndef SUPERVISE_SYS_TCPINFO_H
#define SUPERVISE_SYS_TCPINFO_H

#include <stddef.h>

#include "supervise/io/fdkind.h"

/* Fills at most `room` bytes: how many, or -1 when it is no TCP socket. */
int tcpinfo_read(const struct gfd *g, void *ret, size_t room);

#endif
