/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a pack: all of it, so that nobody has to find it out one by one. */
#ifndef PACK_FAULTS_H
#define PACK_FAULTS_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

/* Sentences, owned. Past FAULTS_MAX they are counted only. */
enum { FAULTS_MAX = 200 };
struct faults {
	char **items;
	size_t count, left_out;
};

void faults_finish(struct faults *f);
#define auto_faults CLEANUP(faults_finish)
void faults_add(struct faults *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* All of them, "; " between (caller frees). */
char *faults_text(const struct faults *f);
/* 0 when there are none, else ERR_FORMAT with as many of them as fit: "what: ...". */
MUST_CHECK int faults_error(const struct faults *f, const char *what, struct error *err);

#endif
