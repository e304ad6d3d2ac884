/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing sockets: what the kernel tells of links, addresses, routes and neighbours holds stamps of
 * the host's time, counters and random periods, which are blanked when a guest receives them.
 */
#ifndef SUPERVISE_NETLINK_H
#define SUPERVISE_NETLINK_H

#include <stdbool.h>
#include <stddef.h>

#include "supervise/io/fdkind.h"

/* A guest makes a netlink socket: from then on sockets are looked at for it. False: there is no
 * such protocol for guests. */
bool netlink_made(int protocol);
bool netlink_is(const struct gfd *g);
/*
 * Blanks the messages that were received, in place, the last of which may be cut short. Returns how
 * many bytes are to be kept: a message of a kind that is not known here becomes an error
 * (EOPNOTSUPP), and what follows it goes.
 */
size_t netlink_blank(char *data, size_t len);

#endif
