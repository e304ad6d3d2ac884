/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of what the guest is given, for the contract's JSON; and the CPU it will see. */
#ifndef RUN_INPUTS_H
#define RUN_INPUTS_H

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"
#include "wire/contract.h"

/* "" where a digest was not taken. The digests of binds and standard input are in the contract. */
struct inputs {
	char cwd[DIGEST_TEXT], rootfs[DIGEST_TEXT];
	char image[DIGEST_TEXT]; /* of the manifest: with it neither of the others is taken */
};

/* Takes the digests of the copied directory, the root and the binds (into c->binds). */
MUST_CHECK int inputs_digest(struct contract *c, struct inputs *ret, struct error *err);

/*
 * "" when this CPU can fault cpuid, so that the guest sees the fixed model; else "host:" and a
 * digest of model, family, stepping and flags.
 */
MUST_CHECK int inputs_cpu(char ret[80], struct error *err);
/* The same from the text of /proc/cpuinfo. */
void inputs_cpu_from(const char *cpuinfo, char ret[80]);

#endif
