/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a run say that there is: objects, relations between them, and patches. It is
 * made by graph_apply alone, a pure function of the events in their order: nothing is fired,
 * written or asked for, and the same events give the same text. Types that it does not know project
 * to nothing. The shapes of the payloads are those of ActiveGraph (docs/format/ledger.md).
 */
#ifndef RUNTIME_GRAPH_H
#define RUNTIME_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "ledger/ledger.h"

enum graph_kind { GRAPH_OBJECT, GRAPH_RELATION, GRAPH_PATCH, GRAPH_KINDS };

struct graph_node {
	char *id;
	char *type;	       /* of a patch its op: update or replace */
	char *source, *target; /* of a relation; a patch has the target alone; else NULL */
	char *data;	       /* JSON text of an object; of a patch the value */
	char *provenance;      /* JSON text, or NULL */
	const char *state;     /* of a patch: proposed, applied or rejected; else NULL */
	uint64_t version;      /* of an object, from 1; one more with every applied patch */
	bool is_gone;	       /* removed: as if it were not there */
};

struct graph;

struct graph *graph_new(void);
void graph_free(struct graph *g);
void graph_cleanup(struct graph **g);
#define auto_graph CLEANUP(graph_cleanup)

/*
 * ERR_FORMAT: an event of a known type whose payload is not as it should be, an op that is none,
 * or a patch of an object that is not there.
 */
MUST_CHECK int graph_apply(struct graph *g, const struct ledger_event *e, struct error *err);

/* Borrowed until the graph changes; NULL when there is none. */
const struct graph_node *graph_find(const struct graph *g, enum graph_kind kind, const char *id);
/* All that are there, by their ids' bytes; the caller frees the array alone. */
const struct graph_node **graph_all(const struct graph *g, enum graph_kind kind, size_t *ret_count);
/* The number behind the last id of a kind: task#3 after task#2, rel_004 after rel_003. */
uint64_t graph_counter(const struct graph *g, enum graph_kind kind);
/* Raises it: ids were given to what is gone. */
void graph_counter_raise(struct graph *g, enum graph_kind kind, uint64_t number);

/* {"objects":[...],"patches":[...],"relations":[...]}: sorted keys, by ids, no white space. */
void graph_write(const struct graph *g, struct bytes *out);
/* One node as graph_write has it. */
void graph_write_node(struct bytes *out, enum graph_kind kind, const struct graph_node *n);
/* Of such a text; the graph has to be empty. */
MUST_CHECK int graph_read(struct graph *g, const char *text, size_t len, struct error *err);

#endif
