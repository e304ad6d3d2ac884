/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses outside a run may reach: --network none, host, or allow=HOST:PORT,...
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets. A name stands for the addresses
 * that the host finds for it while the run asks; and where names are allowed, the host's name
 * server is too, since the guest would not find them otherwise.
 */
#ifndef RUN_NETWORK_H
#define RUN_NETWORK_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/endpoint.h"

/* ERR_USAGE when the text is none of the three. */
MUST_CHECK int network_check(const char *text, struct error *err);
/* Is this address among them? Names are looked up, which can take as long as that takes. */
bool network_allows(const char *text, const struct endpoint *to);
/*
 * Where the host reaches it: the address itself, or the first name server of /etc/resolv.conf for
 * the address that stands for it inside (10.0.2.3).
 */
void network_real(const struct endpoint *to, struct endpoint *ret);

#endif
