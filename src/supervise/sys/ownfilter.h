/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp filters that guests install for themselves. */
#ifndef SUPERVISE_OWNFILTER_H
#define SUPERVISE_OWNFILTER_H

#include "supervise/engine/call.h"
#include "supervise/engine/task.h"

/* An enter handler's answer to a call that installs the program at prog. */
enum act ownfilter_install(struct task *t, struct call *c, uint64_t flags, uint64_t prog);
/* Its leave handler's part. */
void ownfilter_installed(struct task *t, const struct call *c);

#endif
