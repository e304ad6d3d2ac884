/* SPDX-License-Identifier: Apache-2.0 */
/* Making a tree out of a stream, below snapshot_thaw: what the fuzzer calls. */
#ifndef CAS_THAW_H
#define CAS_THAW_H

#include "cas/tar.h"

/* What it has made is the caller's to remove when it fails. */
MUST_CHECK int thaw_stream(
	tar_source *source, void *context, int dir, char **ret_special, struct error *err);

#endif
