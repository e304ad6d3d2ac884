/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the container: its own namespace with the loopback device up, nothing else. */
#ifndef LAUNCH_NET_H
#define LAUNCH_NET_H

#include "base/attr.h"
#include "base/error.h"

/* Brings `lo` up in the network namespace of the caller; needs CAP_NET_ADMIN over it. */
MUST_CHECK int net_loopback_up(struct error *err);

#endif
