/* SPDX-License-Identifier: Apache-2.0 */
/* TCP over the container's loopback, made independent of how fast the host is. */
#ifndef LAUNCH_TCP_H
#define LAUNCH_TCP_H

#include "base/attr.h"
#include "base/error.h"

/* For the network namespace of the caller, whose loopback is up; needs CAP_NET_ADMIN over it. */
MUST_CHECK int tcp_steady(struct error *err);

#endif
