/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass runs graph: the lineage of a ledger's runs, as a tree of lines or as SVG. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/session.h"
#include "cli/store.h"

struct values {
	struct cli_runs runs;
	bool svg, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"svg", CLI_FLAG, NULL, "a picture for a browser", AT(svg)},
	{0},
};

/* A run of the list, with those that were forked from it. */
struct node {
	struct ledger_run run;
	size_t parent;	    /* index + 1; 0: none, or one that is not there */
	size_t child, next; /* index + 1: the first fork of it, the next one of its parent */
	size_t last_child;
	size_t row, depth;
	uint64_t events, shared; /* counts: where a store's seqs are not, these are */
};

struct tree {
	struct ledger *ledger;
	struct node *nodes;
	size_t count, room;
	uint64_t most; /* events of the longest run, at least 1 */
	size_t *order; /* rows from the top */
};

static void tree_finish(struct tree *t)
{
	for (size_t i = 0; i < t->count; i++)
		ledger_run_finish(&t->nodes[i].run);
	free(t->nodes);
	free(t->order);
}

static char *dup_or_null(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

static int add_run(void *context, const struct ledger_run *r, struct error *err)
{
	struct tree *t = context;
	struct node *n;

	(void)err;
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->nodes = mem_grow(t->nodes, t->room, sizeof(*t->nodes));
	}
	n = &t->nodes[t->count++];
	*n = (struct node){.run = *r};
	n->run.id = mem_strdup(r->id);
	n->run.parent = dup_or_null(r->parent);
	n->run.at = dup_or_null(r->at);
	n->run.label = dup_or_null(r->label);
	n->run.goal = NULL;
	n->run.created = NULL;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct node *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x->run.id, y->run.id);
}

/* Index + 1 of a run by its id, through a sorted list. */
static size_t find_run(struct tree *t, struct node **sorted, const char *id)
{
	struct node key = {.run = {.id = (char *)(uintptr_t)id}}, *wanted = &key;
	struct node **found = bsearch(&wanted, sorted, t->count, sizeof(*sorted), by_id);

	return found ? (size_t)(*found - t->nodes) + 1 : 0;
}

static void hang(struct tree *t, size_t index)
{
	struct node *n = &t->nodes[index], *p = n->parent ? &t->nodes[n->parent - 1] : NULL;

	if (!p)
		return;
	if (p->last_child)
		t->nodes[p->last_child - 1].next = index + 1;
	else
		p->child = index + 1;
	p->last_child = index + 1;
}

/* Depth first, in the order of their making; an own stack, since chains of forks may be long. */
static void put_in_order(struct tree *t)
{
	size_t rows = 0;

	t->order = mem_array(t->count + 1, sizeof(*t->order));
	for (size_t root = 0; root < t->count; root++) {
		size_t at = t->nodes[root].parent ? 0 : root + 1;

		while (at) {
			struct node *n = &t->nodes[at - 1];

			n->depth = n->parent ? t->nodes[n->parent - 1].depth + 1 : 0;
			n->row = rows;
			t->order[rows++] = at - 1;
			if (n->child) {
				at = n->child;
				continue;
			}
			while (at && !t->nodes[at - 1].next)
				at = t->nodes[at - 1].parent;
			at = at ? t->nodes[at - 1].next : 0;
		}
	}
}

static int read_tree(struct tree *t, struct error *err)
{
	autofree struct node **sorted = NULL;

	if (ledger_run_each(t->ledger, add_run, t, err) < 0)
		return -1;
	sorted = mem_array(t->count + 1, sizeof(*sorted));
	for (size_t i = 0; i < t->count; i++)
		sorted[i] = &t->nodes[i];
	qsort(sorted, t->count, sizeof(*sorted), by_id);
	for (size_t i = 0; i < t->count; i++) {
		struct node *n = &t->nodes[i];
		uint64_t own;

		n->parent = n->run.parent ? find_run(t, sorted, n->run.parent) : 0;
		/* A parent is older: what is not cannot be one. */
		if (n->parent > i)
			n->parent = 0;
		hang(t, i);
		if (ledger_count(t->ledger, n->run.id, 0, NULL, &n->events, err) < 0 ||
			ledger_count(t->ledger, n->run.id, n->run.shared + 1, NULL, &own, err) < 0)
			return -1;
		n->shared = n->run.parent ? n->events - own : 0;
		t->most = n->events > t->most ? n->events : t->most;
	}
	put_in_order(t);
	return 0;
}

/* As text. */

enum { DEPTH_SHOWN = 60 };

static void print_branch(const struct tree *t, const struct node *n)
{
	autofree char *line = mem_strdup("");
	const struct node *p = n;

	if (n->depth > DEPTH_SHOWN) {
		printf("(%zu forks deep) ", n->depth);
		return;
	}
	/* From the right: the run's own corner, then a line for each ancestor that goes on. */
	while (p->parent) {
		const char *mark = p == n ? (p->next ? "|- " : "`- ") : (p->next ? "|  " : "   ");
		char *longer = str_format("%s%s", mark, line);

		free(line);
		line = longer;
		p = &t->nodes[p->parent - 1];
	}
	printf("%s", line);
}

static void print_text(const struct tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct node *n = &t->nodes[t->order[i]];
		const char *label = n->run.label ? n->run.label : "";
		autofree char *id = str_printable(n->run.id, strlen(n->run.id), 100);
		autofree char *safe = str_printable(label, strlen(label), 60);

		print_branch(t, n);
		if (n->parent)
			printf("%s at %s, %" PRIu64 " of its own%s%s\n", id,
				n->run.at ? n->run.at : "its beginning", n->events - n->shared,
				*safe ? "  " : "", safe);
		else
			printf("%s, %" PRIu64 " events%s%s\n", id, n->events, *safe ? "  " : "",
				safe);
	}
}

/* As SVG: a line a run, as long as its history; it leaves its parent's where it was forked. */

enum { LEFT = 20, WIDE = 600, ROW = 44, TOP = 30, TEXT_WIDE = 360 };

static uint64_t x_of(const struct tree *t, uint64_t events)
{
	return LEFT + events * WIDE / t->most;
}

/* Text in XML: what is printable, with three characters spelled out. */
static void print_xml(const char *text)
{
	autofree char *safe = str_printable(text, strlen(text), 60);

	for (const char *p = safe; *p; p++)
		if (*p == '<')
			printf("&lt;");
		else if (*p == '>')
			printf("&gt;");
		else if (*p == '&')
			printf("&amp;");
		else
			putchar(*p);
}

static void print_svg_run(const struct tree *t, const struct node *n)
{
	size_t y = TOP + n->row * ROW;
	uint64_t from = x_of(t, n->shared), to = x_of(t, n->events);

	if (n->parent)
		printf("<path d=\"M%" PRIu64 " %zu V%zu\" class=\"fork\"/>\n", from,
			(size_t)TOP + t->nodes[n->parent - 1].row * ROW, y);
	printf("<path d=\"M%" PRIu64 " %zu H%" PRIu64 "\" class=\"run\"/>\n", from, y, to);
	printf("<circle cx=\"%" PRIu64 "\" cy=\"%zu\" r=\"4\"/>\n", to, y);
	printf("<text x=\"%" PRIu64 "\" y=\"%zu\">", to + 10, y + 4);
	print_xml(n->run.id);
	printf(" ");
	if (n->run.at) {
		printf("at ");
		print_xml(n->run.at);
		printf(" ");
	}
	print_xml(n->run.label ? n->run.label : "");
	printf("</text>\n");
}

static void print_svg(const struct tree *t)
{
	size_t height = TOP * 2 + (t->count ? (t->count - 1) * ROW : 0);

	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
	       "viewBox=\"0 0 %d %zu\">\n",
		LEFT + WIDE + TEXT_WIDE, height, LEFT + WIDE + TEXT_WIDE, height);
	printf("<style>path{fill:none;stroke-width:2}.run{stroke:#1f6f8b}.fork{stroke:#9aa5ab;"
	       "stroke-dasharray:3 3}circle{fill:#1f6f8b}text{font:12px monospace;fill:#333}"
	       "</style>\n");
	for (size_t i = 0; i < t->count; i++)
		print_svg_run(t, &t->nodes[t->order[i]]);
	printf("</svg>\n");
}

static json_t *tree_json(const struct tree *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->count; i++) {
		const struct node *n = &t->nodes[t->order[i]];
		json_t *o = json_object();

		json_put(o, "at", n->run.at ? json_str(n->run.at) : json_null());
		json_put(o, "depth", json_u64(n->depth));
		json_put(o, "events", json_u64(n->events));
		json_put(o, "label", n->run.label ? json_str(n->run.label) : json_null());
		json_put(o, "parent", n->run.parent ? json_str(n->run.parent) : json_null());
		json_put(o, "run", json_str(n->run.id));
		json_put(o, "shared", json_u64(n->shared));
		json_add(list, o);
	}
	return list;
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	struct tree CLEANUP(tree_finish) t = {0};
	struct error err;

	if (!cli_words_are(argv, 0, 0, "runs graph"))
		return STATUS_USAGE;
	if (v->svg && v->json) {
		cli_say("--svg and --json are two forms of one answer: ask for one of them");
		return STATUS_USAGE;
	}
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0)
		return cli_runs_fail(&err);
	t.ledger = l;
	t.most = 1;
	if (read_tree(&t, &err) < 0)
		return cli_runs_fail(&err);
	if (v->json)
		cli_print_json(tree_json(&t));
	else if (v->svg)
		print_svg(&t);
	else
		print_text(&t);
	return 0;
}

const struct cli_command command_runs_graph = {
	.name = "runs graph",
	.arguments = "",
	.summary = "Draw which run was forked from which",
	.details = "A tree of lines, forks below their parents in the order of their making; with "
		   "--svg a picture,\nwhere a run's line is as long as its history.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
