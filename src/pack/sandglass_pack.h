/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack as a shared object: it exports `sandglass_pack_v1`. Stands alone, for packs to include.
 * It is loaded in the container of its trial, by a program that speaks the protocol of
 * docs/format/pack.md for it.
 */
#ifndef SANDGLASS_PACK_H
#define SANDGLASS_PACK_H

#include <stdint.h>

#define SANDGLASS_PACK_EXPORT __attribute__((visibility("default")))

/* What a pack can do to the fork. Every function returns 0, or -1: error() says why. */
struct sandglass_runtime_v1 {
	uint32_t size; /* of this struct: later versions add at its end */
	void *context;
	/* payload: the text of a JSON object. */
	int (*append)(const struct sandglass_runtime_v1 *rt, const char *type, const char *payload);
	/* Behaviors do what there is to do. */
	int (*run_until_idle)(const struct sandglass_runtime_v1 *rt);
	/* Any request of the protocol; *ret_reply is the reply's text, valid until the next call.
	 */
	int (*request)(
		const struct sandglass_runtime_v1 *rt, const char *request, const char **ret_reply);
	/* Why the last one failed. */
	const char *(*error)(const struct sandglass_runtime_v1 *rt);
};

struct sandglass_pack_v1 {
	uint32_t size;	     /* of this struct */
	const char *surface; /* what the protocol's "describe" is answered with: a JSON object */
	/* One of its behaviors for one event, as JSON. 0, or -1: it failed. */
	int (*behavior)(
		const struct sandglass_runtime_v1 *rt, const char *behavior, const char *event);
};

/* --scenario FILE::NAME calls this of the shared object FILE; without NAME it is "main". */
typedef int sandglass_scenario(const struct sandglass_runtime_v1 *rt);

#endif
