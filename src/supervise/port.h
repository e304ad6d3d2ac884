/* SPDX-License-Identifier: Apache-2.0 */
/* Ephemeral ports from a counter: PINNED.md, "from 32768 upwards by a counter". */
#ifndef SUPERVISE_PORT_H
#define SUPERVISE_PORT_H

#include <sys/socket.h>

#include "base/attr.h"
#include "supervise/fdkind.h"

/* Binds the socket to this inet address with the next free port of the counter: 0 or -errno. */
MUST_CHECK int port_bind(const struct gfd *g, const struct sockaddr *address, socklen_t len);
/* The kernel is about to choose a port for the socket: chooses it first. Nothing happens to a
 * socket that is bound or of another family. */
void port_choose(const struct gfd *g);
/* Binds a unix socket to the next abstract name of a counter, as the kernel does with a random one.
 */
MUST_CHECK int port_bind_unix(const struct gfd *g);
/* An inet address with port 0? */
bool port_is_open(const struct sockaddr *address, socklen_t len);

#endif
