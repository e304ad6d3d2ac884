/* SPDX-License-Identifier: Apache-2.0 */
/* TCP over the container's loopback, made independent of how fast the host is. */
#ifndef LAUNCH_TCP_H
#define LAUNCH_TCP_H

#include "base/attr.h"
#include "base/error.h"

/* For the network namespace of the caller, whose loopback is up; needs CAP_NET_ADMIN over it. */
MUST_CHECK int tcp_steady(struct error *err);
/*
 * After it, where connections outside are let out: every address is the container's own, and every
 * port anybody's, so that the supervisor can stand in for a peer. TCP_OWN_ADDRESS is where what is
 * sent there comes from.
 */
#define TCP_OWN_ADDRESS "10.0.2.15"
MUST_CHECK int tcp_everywhere(struct error *err);

#endif
