/* SPDX-License-Identifier: Apache-2.0 */
/* Going through a store shard by shard, as cas_list and gc do. */
#ifndef CAS_LIST_H
#define CAS_LIST_H

#include <stdbool.h>

#include "cas/cas.h"

bool cas_is_shard(const char *name);
/* The objects of one shard; dir is the store's directory. */
MUST_CHECK int cas_list_shard(
	int dir, const char *name, cas_visit *visit, void *context, struct error *err);

#endif
