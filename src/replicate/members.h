/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of JSON as tables of their members, with every violation told and not only the first. */
#ifndef REPLICATE_MEMBERS_H
#define REPLICATE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/json.h"
#include "replicate/claim.h"

enum { MEMBERS_PATH = 256 };

/* Where we are in the text, for what is told. */
struct members {
	struct violations *faults;
	char path[MEMBERS_PATH]; /* "data[0].sha256" */
};

struct member {
	const char *name; /* NULL ends a table */
	bool needed;
	/* Fills `at`, or tells what is wrong with v. */
	void (*take)(struct members *m, const json_t *v, void *at);
	void *at;
};

/* Something is wrong with what we are at. */
void members_fault(struct members *m, const char *what);
void members_read(struct members *m, const json_t *v, const struct member *rows);

/* A string with something in it, of at most max bytes and without NUL; *ret is the caller's. */
bool members_text(struct members *m, const json_t *v, size_t max, char **ret);
bool members_number(
	struct members *m, const json_t *v, uint64_t least, uint64_t most, uint64_t *ret);

/* For the rest of a block we are at an item of an array, or at a member. */
struct members_mark {
	struct members *m;
	size_t len;
};
struct members_mark members_enter_item(struct members *m, size_t i);
struct members_mark members_enter(struct members *m, const char *name);
void members_leave(struct members_mark *mark);
#define MEMBERS_ITEM(m, i) \
	UNUSED struct members_mark CLEANUP(members_leave) mark = members_enter_item(m, i)
#define MEMBERS_NAMED(m, name) \
	UNUSED struct members_mark CLEANUP(members_leave) mark = members_enter(m, name)

#endif
