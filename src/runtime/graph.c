/* SPDX-License-Identifier: Apache-2.0 */
/* The projection of events: see graph.h. */
#include "runtime/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "codec/json.h"
#include "codec/raw.h"

/* index + 1, 0: free; the hash tells nearly always without a look at the node. */
struct slot {
	uint32_t hash, index;
};

/* Nodes in the order of their making; slots find them by their ids' hash. */
struct table {
	struct graph_node *nodes;
	size_t count, room;
	struct slot *slots;
	size_t slot_count; /* a power of 2, or 0 */
	uint64_t counter;
};

struct graph {
	struct table tables[GRAPH_KINDS];
};

struct graph *graph_new(void)
{
	return mem_alloc(sizeof(struct graph));
}

static void clear_node(struct graph_node *n)
{
	free(n->id);
	free(n->type);
	free(n->source);
	free(n->target);
	free(n->data);
	free(n->provenance);
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	for (int k = 0; k < GRAPH_KINDS; k++) {
		for (size_t i = 0; i < g->tables[k].count; i++)
			clear_node(&g->tables[k].nodes[i]);
		free(g->tables[k].nodes);
		free(g->tables[k].slots);
	}
	free(g);
}

void graph_cleanup(struct graph **g)
{
	graph_free(*g);
	*g = NULL;
}

/* Tables. */

/* FNV-1a, folded; nothing depends on its values. */
static uint32_t hash_of(const char *id)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
}

/* The slot of an id, or the free one where it would go. */
static struct slot *slot_of(const struct table *t, const char *id, uint32_t hash)
{
	size_t at = hash & (t->slot_count - 1);

	while (t->slots[at].index &&
		(t->slots[at].hash != hash || strcmp(t->nodes[t->slots[at].index - 1].id, id) != 0))
		at = (at + 1) & (t->slot_count - 1);
	return &t->slots[at];
}

static struct graph_node *find(const struct table *t, const char *id)
{
	uint32_t index = t->slot_count ? slot_of(t, id, hash_of(id))->index : 0;

	return index ? &t->nodes[index - 1] : NULL;
}

static void grow_slots(struct table *t)
{
	autofree struct slot *old = t->slots;
	size_t old_count = t->slot_count;

	t->slot_count = old_count ? 2 * old_count : 64;
	t->slots = mem_array(t->slot_count, sizeof(*t->slots));
	for (size_t i = 0; i < old_count; i++) {
		size_t at = old[i].hash & (t->slot_count - 1);

		while (old[i].index && t->slots[at].index)
			at = (at + 1) & (t->slot_count - 1);
		if (old[i].index)
			t->slots[at] = old[i];
	}
}

/* Takes the node's texts; one of the same id is replaced. */
static void put(struct table *t, struct graph_node n)
{
	struct graph_node *there = find(t, n.id);
	uint32_t hash = hash_of(n.id);

	if (there) {
		clear_node(there);
		*there = n;
		return;
	}
	if (2 * (t->count + 1) > t->slot_count)
		grow_slots(t);
	if (!t->nodes || t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->nodes = mem_grow(t->nodes, t->room, sizeof(*t->nodes));
	}
	t->nodes[t->count++] = n;
	*slot_of(t, n.id, hash) = (struct slot){hash, (uint32_t)t->count};
}

/* The counter of ids is the highest that any id shows: behind # of an object, behind _ else. */
static void count_id(struct table *t, enum graph_kind kind, const char *id)
{
	const char *mark = strrchr(id, kind == GRAPH_OBJECT ? '#' : '_');
	struct error err;
	uint64_t n;

	if (mark && num_parse_u64(mark + 1, 999999999999, &n, &err) == 0 && n > t->counter)
		t->counter = n;
}

const struct graph_node *graph_find(const struct graph *g, enum graph_kind kind, const char *id)
{
	const struct graph_node *n = find(&g->tables[kind], id);

	return n && !n->is_gone ? n : NULL;
}

uint64_t graph_counter(const struct graph *g, enum graph_kind kind)
{
	return g->tables[kind].counter;
}

void graph_counter_raise(struct graph *g, enum graph_kind kind, uint64_t number)
{
	if (number > g->tables[kind].counter)
		g->tables[kind].counter = number;
}

static int by_id(const void *a, const void *b)
{
	const struct graph_node *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x->id, y->id);
}

const struct graph_node **graph_all(const struct graph *g, enum graph_kind kind, size_t *ret_count)
{
	const struct table *t = &g->tables[kind];
	const struct graph_node **list = mem_array(t->count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++)
		if (!t->nodes[i].is_gone)
			list[count++] = &t->nodes[i];
	qsort(list, count, sizeof(*list), by_id);
	*ret_count = count;
	return list;
}

/* Payloads. */

enum part { ID, TYPE, SOURCE, TARGET, DATA, PROVENANCE, OP, VALUE, VERSION, STATE, PARTS };
static const char *const part_names[PARTS] = {
	"id", "type", "source", "target", "data", "provenance", "op", "value", "version", "state"};

/* Nearly every key is written plainly: its length and bytes tell. */
static bool is_part(struct raw key, const char *name)
{
	size_t len = strlen(name);

	if (key.len == len + 2 && memcmp(key.text + 1, name, len) == 0)
		return true;
	return memchr(key.text, '\\', key.len) && raw_is(key, name);
}

/* The parts that are there, in one walk. */
static void pick(struct raw object, struct raw ret[PARTS])
{
	struct raw_walk w = raw_walk(object);
	struct raw key, value;

	for (int i = 0; i < PARTS; i++)
		ret[i] = (struct raw){0};
	while (w.is_object && raw_next(&w, &key, &value))
		for (int i = 0; i < PARTS; i++)
			if (is_part(key, part_names[i])) {
				ret[i] = value;
				break;
			}
}

static char *raw_text(struct raw r)
{
	return r.text ? mem_strndup(r.text, r.len) : NULL;
}

static uint64_t number_of(struct raw r, uint64_t otherwise)
{
	autofree char *text = raw_text(r);
	struct error err;
	uint64_t n;

	return text && num_parse_u64(text, INT64_MAX, &n, &err) == 0 ? n : otherwise;
}

static int broken(const struct ledger_event *e, const char *what, struct error *err)
{
	return error_set(err, ERR_FORMAT, "%.60s (%.60s): %s", e->id, e->type, what);
}

static struct raw payload_of(const struct ledger_event *e)
{
	const char *text = e->payload;
	size_t len = e->payload_len;

	while (len > 0 && (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r')) {
		text++;
		len--;
	}
	return (struct raw){text, len};
}

/* A member that is an object, picked apart. */
static bool pick_member(const struct ledger_event *e, const char *name, struct raw ret[PARTS])
{
	struct raw member;

	if (!raw_find(payload_of(e), name, &member) || raw_kind(member) != '{')
		return false;
	pick(member, ret);
	return true;
}

/* A node of what was picked; *ret_ok tells whether it has an id and a type. */
static struct graph_node node_of(enum graph_kind kind, const struct raw p[PARTS], bool *ret_ok)
{
	struct graph_node n = {.id = raw_string(p[ID]),
		.type = raw_string(p[kind == GRAPH_PATCH ? OP : TYPE]),
		.source = kind == GRAPH_RELATION ? raw_string(p[SOURCE]) : NULL,
		.target = kind != GRAPH_OBJECT ? raw_string(p[TARGET]) : NULL,
		.data = raw_text(p[kind == GRAPH_PATCH ? VALUE : DATA]),
		.provenance = raw_text(p[PROVENANCE]),
		.version = kind == GRAPH_OBJECT ? number_of(p[VERSION], 1) : 0};

	if (!n.data)
		n.data = mem_strdup("{}");
	*ret_ok = n.id && n.type && (kind != GRAPH_RELATION || (n.source && n.target)) &&
		  (kind != GRAPH_PATCH || n.target);
	return n;
}

static int create(struct graph *g, enum graph_kind kind, const char *member,
	const struct ledger_event *e, struct error *err)
{
	struct raw p[PARTS];
	struct graph_node n;
	bool ok;

	if (!pick_member(e, member, p))
		return broken(e, "its payload names nothing", err);
	n = node_of(kind, p, &ok);
	if (!ok) {
		clear_node(&n);
		return broken(e, "what it makes has no id, type or ends", err);
	}
	count_id(&g->tables[kind], kind, n.id);
	put(&g->tables[kind], n);
	return 0;
}

static int remove_node(
	struct graph *g, enum graph_kind kind, const struct ledger_event *e, struct error *err)
{
	autofree char *id = raw_find_string(payload_of(e), "id");
	struct graph_node *n = id ? find(&g->tables[kind], id) : NULL;
	struct table *relations = &g->tables[GRAPH_RELATION];

	if (!id)
		return broken(e, "its payload names nothing", err);
	if (n)
		n->is_gone = true;
	/* What touched it goes with it. */
	for (size_t i = 0; kind == GRAPH_OBJECT && i < relations->count; i++) {
		struct graph_node *r = &relations->nodes[i];

		if (strcmp(r->source, id) == 0 || strcmp(r->target, id) == 0)
			r->is_gone = true;
	}
	return 0;
}

/* data with the members of value put over its own. */
static char *merge(const char *data, struct raw value)
{
	struct raw base = {data, strlen(data)}, key, item, other;
	struct raw_walk w = raw_walk(base);
	struct bytes out = {0};
	size_t count = 0;

	bytes_put_u8(&out, '{');
	while (w.is_object && raw_next(&w, &key, &item)) {
		autofree char *name = raw_string(key);

		if (name && raw_find(value, name, &other))
			item = other;
		if (count++ > 0)
			bytes_put(&out, ", ", 2);
		bytes_put(&out, key.text, key.len);
		bytes_put(&out, ": ", 2);
		bytes_put(&out, item.text, item.len);
	}
	w = raw_walk(value);
	while (w.is_object && raw_next(&w, &key, &item)) {
		autofree char *name = raw_string(key);

		if (name && raw_find(base, name, &other))
			continue;
		if (count++ > 0)
			bytes_put(&out, ", ", 2);
		bytes_put(&out, key.text, key.len);
		bytes_put(&out, ": ", 2);
		bytes_put(&out, item.text, item.len);
	}
	bytes_put_u8(&out, '}');
	bytes_put_u8(&out, 0);
	return (char *)out.data;
}

static int apply_patch(struct graph *g, const struct ledger_event *e, struct error *err)
{
	struct raw p[PARTS];
	struct graph_node n, *target;
	char *data = NULL;
	bool ok;

	if (!pick_member(e, "patch", p))
		return broken(e, "its payload names nothing", err);
	n = node_of(GRAPH_PATCH, p, &ok);
	n.state = "applied";
	target = ok ? find(&g->tables[GRAPH_OBJECT], n.target) : NULL;
	if (target && !target->is_gone && strcmp(n.type, "update") == 0)
		data = merge(target->data, p[VALUE]);
	else if (target && !target->is_gone && strcmp(n.type, "replace") == 0)
		data = mem_strdup(n.data);
	if (!data) {
		clear_node(&n);
		return broken(e,
			!ok			     ? "the patch has no id, op or target"
			: !target || target->is_gone ? "there is no object for its patch"
						     : "an op that is neither update nor replace",
			err);
	}
	free(target->data);
	target->data = data;
	target->version++;
	count_id(&g->tables[GRAPH_PATCH], GRAPH_PATCH, n.id);
	put(&g->tables[GRAPH_PATCH], n);
	return 0;
}

static int propose_patch(struct graph *g, const struct ledger_event *e, struct error *err)
{
	autofree char *id = NULL;
	struct graph_node *n;
	struct raw p[PARTS];

	if (create(g, GRAPH_PATCH, "patch", e, err) < 0)
		return -1;
	if (pick_member(e, "patch", p))
		id = raw_string(p[ID]);
	n = id ? find(&g->tables[GRAPH_PATCH], id) : NULL;
	if (n)
		n->state = "proposed";
	return 0;
}

static int reject_patch(struct graph *g, const struct ledger_event *e, struct error *err)
{
	autofree char *id = raw_find_string(payload_of(e), "patch_id");
	struct graph_node *n = id ? find(&g->tables[GRAPH_PATCH], id) : NULL;

	if (!id)
		return broken(e, "its payload names no patch", err);
	if (n)
		n->state = "rejected";
	return 0;
}

int graph_apply(struct graph *g, const struct ledger_event *e, struct error *err)
{
	if (strcmp(e->type, "object.created") == 0)
		return create(g, GRAPH_OBJECT, "object", e, err);
	if (strcmp(e->type, "object.removed") == 0)
		return remove_node(g, GRAPH_OBJECT, e, err);
	if (strcmp(e->type, "relation.created") == 0)
		return create(g, GRAPH_RELATION, "relation", e, err);
	if (strcmp(e->type, "relation.removed") == 0)
		return remove_node(g, GRAPH_RELATION, e, err);
	if (strcmp(e->type, "patch.proposed") == 0)
		return propose_patch(g, e, err);
	if (strcmp(e->type, "patch.applied") == 0)
		return apply_patch(g, e, err);
	if (strcmp(e->type, "patch.rejected") == 0)
		return reject_patch(g, e, err);
	return 0;
}

/* Text. */

static void put_string(struct bytes *out, const char *s)
{
	auto_json json_t *value = json_str(s);

	json_write_as(out, value, JSON_JCS);
}

/* "name":; a comma before all but the first. */
static void put_name(struct bytes *out, const char *name)
{
	if (out->data[out->len - 1] != '{')
		bytes_put_u8(out, ',');
	put_string(out, name);
	bytes_put_u8(out, ':');
}

static void put_member(struct bytes *out, const char *name, const char *s)
{
	if (!s)
		return;
	put_name(out, name);
	put_string(out, s);
}

static void put_raw(struct bytes *out, const char *name, const char *text)
{
	if (!text)
		return;
	put_name(out, name);
	raw_sorted(out, (struct raw){text, strlen(text)});
}

/* Names in the order of their bytes. */
void graph_write_node(struct bytes *out, enum graph_kind kind, const struct graph_node *n)
{
	bool is_patch = kind == GRAPH_PATCH;

	bytes_put_u8(out, '{');
	put_raw(out, "data", is_patch ? NULL : n->data);
	put_member(out, "id", n->id);
	put_member(out, "op", is_patch ? n->type : NULL);
	put_raw(out, "provenance", n->provenance);
	put_member(out, "source", n->source);
	put_member(out, "state", n->state);
	put_member(out, "target", n->target);
	put_member(out, "type", is_patch ? NULL : n->type);
	put_raw(out, "value", is_patch ? n->data : NULL);
	if (kind == GRAPH_OBJECT) {
		auto_json json_t *version = json_u64(n->version);

		put_name(out, "version");
		json_write_as(out, version, JSON_JCS);
	}
	bytes_put_u8(out, '}');
}

static const struct {
	const char *name;
	enum graph_kind kind;
} lists[] = {{"objects", GRAPH_OBJECT}, {"patches", GRAPH_PATCH}, {"relations", GRAPH_RELATION}};

void graph_write(const struct graph *g, struct bytes *out)
{
	bytes_put_u8(out, '{');
	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		size_t count;
		autofree const struct graph_node **all = graph_all(g, lists[l].kind, &count);

		put_name(out, lists[l].name);
		bytes_put_u8(out, '[');
		for (size_t i = 0; i < count; i++) {
			if (i > 0)
				bytes_put_u8(out, ',');
			graph_write_node(out, lists[l].kind, all[i]);
		}
		bytes_put_u8(out, ']');
	}
	bytes_put_u8(out, '}');
}

static int read_node(struct graph *g, enum graph_kind kind, struct raw text, struct error *err)
{
	static const char *const states[] = {"proposed", "applied", "rejected"};
	struct raw p[PARTS];
	struct graph_node n;
	bool ok;

	pick(text, p);
	n = node_of(kind, p, &ok);
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (kind == GRAPH_PATCH && raw_is(p[STATE], states[i]))
			n.state = states[i];
	if (!ok) {
		clear_node(&n);
		return error_set(err, ERR_FORMAT, "a state holds what has no id or type");
	}
	count_id(&g->tables[kind], kind, n.id);
	put(&g->tables[kind], n);
	return 0;
}

int graph_read(struct graph *g, const char *text, size_t len, struct error *err)
{
	struct raw state, list, item;

	if (raw_check(text, len, RAW_PYTHON, &state, err) < 0)
		return error_wrap(err, "a state");
	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		struct raw_walk w;

		/* Those of ActiveGraph have no patches. */
		if (!raw_find(state, lists[l].name, &list))
			continue;
		w = raw_walk(list);
		while (raw_next(&w, NULL, &item))
			if (read_node(g, lists[l].kind, item, err) < 0)
				return -1;
	}
	return 0;
}
