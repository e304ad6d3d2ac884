/* SPDX-License-Identifier: Apache-2.0 */
/* Ephemeral ports from a counter: PINNED.md, "from 32768 upwards by a counter". */
#ifndef SUPERVISE_PORT_H
#define SUPERVISE_PORT_H

#include <sys/socket.h>

#include "base/attr.h"
#include "supervise/io/fdkind.h"

/* Binds the socket to this inet address with the next free port of the counter: 0 or -errno. */
MUST_CHECK int port_bind(const struct gfd *g, const struct sockaddr *address, socklen_t len);
/* A message is about to be sent: names the socket if the kernel would, with or without an address.
 */
void port_name_sender(const struct task *t, const struct gfd *g);
/* The kernel is about to choose a port (inet) or port id (netlink) for the socket: chooses it
 * first. Nothing happens to a socket that is bound or of another family. */
void port_choose(const struct task *t, const struct gfd *g);
/* Binds a netlink socket to the port id of its process, else to the next of a counter: 0 or -errno.
 */
MUST_CHECK int port_bind_netlink(const struct task *t, const struct gfd *g, uint32_t groups);
/*
 * Of several sockets at one port (SO_REUSEPORT) the kernel chooses by a hash with a random key. A
 * program of ours chooses the first instead, for as long as it is there. Only a socket that
 * receives already can have it: one of messages once bound, one of TCP once it listens.
 */
bool port_is_shared(const struct gfd *g);
void port_share(const struct gfd *g);
/* Binds a shared one to this inet address: 0 or -errno. */
MUST_CHECK int port_bind_shared(const struct gfd *g, const struct sockaddr *address, socklen_t len);
/* Binds a unix socket to the next abstract name of a counter, as the kernel does with a random one.
 */
MUST_CHECK int port_bind_unix(const struct gfd *g);
/* The kernel gives a unix socket that wants its peers' credentials a name of that kind before it
 * connects or sends; nothing happens to other sockets. */
void port_name_unix(const struct gfd *g);
/* An inet address with port 0? */
bool port_is_open(const struct sockaddr *address, socklen_t len);

#endif
