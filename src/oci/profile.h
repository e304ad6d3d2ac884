/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp profile of our containers: what no guest may call and the supervisor does not need is
 * refused, which is less than a runtime's own profile allows. It is made of syscalls.def, since
 * what a profile refuses no supervisor can answer.
 */
#ifndef OCI_PROFILE_H
#define OCI_PROFILE_H

#include "codec/json.h"

/* As docker, podman and nerdctl read it. */
json_t *profile_json(void);

#endif
