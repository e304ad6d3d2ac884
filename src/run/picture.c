/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as a page: see picture.h.
 *
 * Every text goes through put_text, which leaves nothing that HTML gives a meaning; the page's own
 * policy forbids scripts and requests besides. Marks are links into the list below, so that the
 * keyboard reaches them and the list says in words what the drawing shows.
 */
#include "run/picture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/events.h"

enum { COLUMN = 18, LANE = 36, TOP = 26, LANES_MAX = 512, FLUSH = 256 * 1024 };

static const char style[] =
	":root{color-scheme:light "
	"dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d1d9e0;--run:#0969da;"
	"--timer:#9a6700;--input:#1a7f37;--effect:#8250df;--signal:#cf222e;--other:#59636e}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#"
	"3d444d;"
	"--run:#4493f8;--timer:#d29922;--input:#3fb950;--effect:#ab7df8;--signal:#f85149;--other:#"
	"9198a1}}\n"
	"body{margin:1.5rem;font:15px/1.5 "
	"system-ui,sans-serif;background:var(--bg);color:var(--fg)}\n"
	"h1{font:600 1.2rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere;margin:0 0 .5rem}"
	"h2{font-size:1.05rem}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0 0 1rem}"
	"dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n"
	".skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--bg)}"
	"\n"
	".lanes{display:flex;border:1px solid var(--line);border-radius:6px}"
	".names{flex:none;border-right:1px solid var(--line);font-size:12px}"
	".names div{height:36px;line-height:36px;padding:0 .7rem;white-space:nowrap}"
	".names div:first-child{height:26px}\n"
	".scroll{overflow-x:auto;flex:1}svg{display:block}svg text{font:11px "
	"ui-monospace,monospace;"
	"fill:var(--dim)}\n"
	".lane{stroke:var(--line)}.when{stroke:var(--line);stroke-dasharray:2 "
	"3}.switch{stroke:var(--dim);"
	"opacity:.6}\n"
	".run{fill:var(--run)}.timer{fill:var(--timer)}.input{fill:var(--input)}.effect{fill:var(--"
	"effect)}"
	".signal{fill:var(--signal)}.create,.exit{fill:var(--other)}\n"
	"a:focus{outline:none}a:focus-visible>*{stroke:var(--fg);stroke-width:3}"
	".scroll:focus-visible,.skip:focus-visible{outline:2px solid var(--run)}\n"
	"table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.15rem .8rem "
	".15rem 0;"
	"vertical-align:top;border-bottom:1px solid var(--line)}"
	"td:nth-child(4){white-space:nowrap}td.n{font-variant-numeric:tabular-nums;white-space:"
	"nowrap;color:var(--dim)}"
	"td:last-child{overflow-wrap:anywhere}"
	"tr:target{background:color-mix(in srgb,var(--run) 22%,transparent)}"
	".key span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 "
	"1em;vertical-align:-.05em}"
	".key svg{display:inline}";

/* Rows by enum event_kind. */
static const struct {
	const char *css, *name;
} kinds[] = {
	[EVENT_RUN] = {"run", "runs"},
	[EVENT_TIMER] = {"timer", "timer"},
	[EVENT_INPUT] = {"input", "from outside"},
	[EVENT_EFFECT] = {"effect", "to outside"},
	[EVENT_SIGNAL] = {"signal", "signal"},
	[EVENT_CREATE] = {"create", "new task"},
	[EVENT_EXIT] = {"exit", "exit"},
};

struct page {
	int fd;
	const struct picture *p;
	struct events events;
	uint32_t lanes[LANES_MAX]; /* tasks, by their number */
	size_t lane_count;
	struct bytes out;
	struct error *err;
	bool has_failed;
};

static void flush(struct page *g)
{
	if (!g->has_failed && fd_write_all(g->fd, g->out.data, g->out.len, g->err) < 0)
		g->has_failed = true;
	g->out.len = 0;
}

/* Our own words. */
static void put(struct page *g, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void put(struct page *g, const char *fmt, ...)
{
	char text[1024]; /* all of them are shorter */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bytes_put(&g->out, text, strlen(text));
	if (g->out.len > FLUSH)
		flush(g);
}

/* Anybody's words: printable ASCII, and nothing that HTML gives a meaning. */
static void put_text(struct page *g, const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			put(g, "\\x%02x", (unsigned char)*c);
		else if (strchr("&<>\"'`", *c))
			put(g, "&#%d;", *c);
		else
			bytes_put(&g->out, c, 1);
}

static void put_time(struct page *g, uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s >= 3600)
		put(g, "%" PRIu64 "h ", s / 3600);
	if (s >= 60)
		put(g, "%" PRIu64 "m ", s / 60 % 60);
	put(g, "%" PRIu64 ".%03" PRIu64 "s", s % 60, ns / 1000000 % 1000);
}

static size_t lane_of(const struct page *g, uint32_t task)
{
	for (size_t i = 0; task && i < g->lane_count; i++)
		if (g->lanes[i] == task)
			return i + 1;
	return 0;
}

static int compare_tasks(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void find_lanes(struct page *g)
{
	for (size_t i = 0; i < g->events.count; i++) {
		uint32_t task = g->events.items[i].task;

		if (!task || lane_of(g, task) || g->lane_count == LANES_MAX)
			continue;
		g->lanes[g->lane_count++] = task;
	}
	qsort(g->lanes, g->lane_count, sizeof(g->lanes[0]), compare_tasks);
}

static void put_label(struct page *g, const struct event *e, uint64_t start_ns)
{
	put_time(g, e->now_ns - start_ns);
	if (e->task)
		put(g, ", task %u", e->task);
	put(g, ": ");
	if (e->kind == EVENT_RUN)
		put(g, "%u %s: ", e->calls, e->calls == 1 ? "call" : "calls");
	if (e->kind == EVENT_TIMER) {
		put(g, "the clock moves by ");
		put_time(g, e->moved_ns);
		put(g, ": ");
	}
	put_text(g, e->text);
}

static void put_shape(struct page *g, const struct event *e, size_t x, size_t y)
{
	const char *css = kinds[e->kind].css;

	switch (e->kind) {
	case EVENT_RUN:
		put(g,
			"<rect class=\"%s\" x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"14\" "
			"rx=\"2\"/>",
			css, x, y - 7, COLUMN - 2);
		return;
	case EVENT_TIMER:
		put(g, "<path class=\"%s\" d=\"M%zu %zul7 7l-7 7l-7 -7z\"/>", css, x + 8, y - 7);
		return;
	case EVENT_INPUT:
		put(g, "<path class=\"%s\" d=\"M%zu %zuh14l-7 13z\"/>", css, x + 1, y - 6);
		return;
	case EVENT_EFFECT:
		put(g, "<path class=\"%s\" d=\"M%zu %zuh14l-7 -13z\"/>", css, x + 1, y + 7);
		return;
	case EVENT_SIGNAL:
	case EVENT_CREATE:
	case EVENT_EXIT:
		put(g, "<circle class=\"%s\" cx=\"%zu\" cy=\"%zu\" r=\"6\"/>", css, x + 8, y);
		return;
	}
}

/* What comes from nobody in particular is in the first lane, outside's. */
static void put_marks(struct page *g, uint64_t start_ns)
{
	size_t last = 0;

	for (size_t i = 0; i < g->events.count; i++) {
		const struct event *e = &g->events.items[i];
		bool is_outside = e->kind == EVENT_INPUT || e->kind == EVENT_EFFECT;
		size_t lane = lane_of(g, e->task), x = 4 + i * COLUMN,
		       y = TOP + (is_outside ? 0 : lane) * LANE + LANE / 2,
		       to = TOP + lane * LANE + LANE / 2;

		if (is_outside && lane)
			put(g, "<path class=\"switch\" d=\"M%zu %zuV%zu\"/>", x + 8, y, to);
		if (e->kind == EVENT_RUN && last && last != to)
			put(g, "<path class=\"switch\" d=\"M%zu %zuV%zu\"/>", x, last, to);
		if (e->kind == EVENT_RUN)
			last = to;
		put(g, "<a href=\"#e%zu\" aria-label=\"", i + 1);
		put_label(g, e, start_ns);
		put(g, "\">");
		put_shape(g, e, x, y);
		put(g, "<title>");
		put_label(g, e, start_ns);
		put(g, "</title></a>\n");
	}
}

static void put_times(struct page *g, uint64_t start_ns, size_t height)
{
	uint64_t now = UINT64_MAX;
	size_t free_x = 0;

	for (size_t i = 0; i < g->events.count; i++) {
		const struct event *e = &g->events.items[i];
		size_t x = 4 + i * COLUMN;

		if (e->now_ns == now)
			continue;
		now = e->now_ns;
		put(g, "<path class=\"when\" d=\"M%zu 18V%zu\"/>", x, height);
		if (x < free_x)
			continue;
		put(g, "<text x=\"%zu\" y=\"13\">", x);
		put_time(g, now - start_ns);
		put(g, "</text>\n");
		free_x = x + 110;
	}
}

static void put_drawing(struct page *g, uint64_t start_ns)
{
	size_t width = 8 + (g->events.count + 5) * COLUMN,
	       height = TOP + (g->lane_count + 1) * LANE;

	put(g, "<div class=\"lanes\"><div class=\"names\" "
	       "aria-hidden=\"true\"><div></div><div>outside"
	       "</div>");
	for (size_t i = 0; i < g->lane_count; i++)
		put(g, "<div>task %u</div>", g->lanes[i]);
	put(g,
		"</div><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Time "
		"line\">\n<svg width=\"%zu\" height=\"%zu\" role=\"group\" aria-label=\"Events in "
		"their order, a lane a task\">\n",
		width, height);
	for (size_t i = 0; i <= g->lane_count; i++)
		put(g, "<path class=\"lane\" d=\"M0 %zuH%zu\"/>", TOP + i * LANE + LANE / 2, width);
	put_times(g, start_ns, height);
	put_marks(g, start_ns);
	put(g, "</svg></div></div>\n");
}

static void put_list(struct page *g, uint64_t start_ns)
{
	put(g, "<h2 id=\"events\">Events</h2>\n");
	if (g->events.is_cut)
		put(g, "<p>The first %d events are shown; there are more.</p>\n", PICTURE_MAX);
	put(g, "<table><thead><tr><th>#</th><th>Time</th><th>Task</th><th>Kind</th><th>What</th></"
	       "tr>"
	       "</thead><tbody>\n");
	for (size_t i = 0; i < g->events.count; i++) {
		const struct event *e = &g->events.items[i];

		put(g, "<tr id=\"e%zu\"><td class=\"n\">%zu</td><td class=\"n\">", i + 1, i + 1);
		put_time(g, e->now_ns - start_ns);
		put(g, "</td><td class=\"n\">");
		if (e->task)
			put(g, "%u", e->task);
		put(g, "</td><td>%s</td><td>", kinds[e->kind].name);
		if (e->kind == EVENT_TIMER) {
			put(g, "+");
			put_time(g, e->moved_ns);
			put(g, ": ");
		}
		if (e->kind == EVENT_RUN)
			put(g, "%u %s: ", e->calls, e->calls == 1 ? "call" : "calls");
		put_text(g, e->text);
		put(g, "</td></tr>\n");
	}
	put(g, "</tbody></table>\n");
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static void put_head(struct page *g)
{
	json_t *contract = json_object_get(g->p->header, "contract"), *word;
	uint64_t at = 0;
	size_t i;

	put(g, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
	       "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	       "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
	       "<title>A run of Sandglass</title>\n<style>");
	bytes_put(&g->out, style, sizeof(style) - 1);
	put(g, "</style></head>\n<body>\n<a class=\"skip\" href=\"#events\">To the list of "
	       "events</a>\n<h1>");
	json_array_foreach(json_object_get(contract, "argv"), i, word)
	{
		if (i)
			put(g, " ");
		put_text(g, json_string_value(word) ? json_string_value(word) : "");
	}
	put(g, "</h1>\n<dl><dt>contract</dt><dd>");
	put_text(g, text_of(g->p->header, "digest"));
	put(g, "</dd><dt>architecture</dt><dd>");
	put_text(g, text_of(contract, "arch"));
	put(g, "</dd><dt>drawn from</dt><dd>%s</dd>",
		g->p->decisions ? "a replay of the tape"
				: "the tape alone: tasks, timers and switches are not on it");
	if (tape_damage(g->p->tape, &at)) {
		put(g, "<dt>the tape</dt><dd>ends at byte %" PRIu64 ": ", at);
		put_text(g, tape_damage(g->p->tape, &at));
		put(g, "</dd>");
	}
	put(g, "</dl>\n<p class=\"key\">");
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		put(g,
			"<svg width=\"26\" height=\"12\"><rect class=\"%s\" x=\"10\" width=\"12\" "
			"height=\"12\"/></svg> %s ",
			kinds[i].css, kinds[i].name);
	put(g, "</p>\n");
}

static void page_finish(struct page *g)
{
	events_finish(&g->events);
	bytes_finish(&g->out);
}

int picture_write(int fd, const struct picture *p, struct error *err)
{
	struct page CLEANUP(page_finish) g = {.fd = fd, .p = p, .err = err};
	uint64_t start_ns = 0;

	if (events_collect(&g.events, p, err) < 0)
		return -1;
	for (size_t i = 0; i < g.events.count; i++)
		if (i == 0 || g.events.items[i].now_ns < start_ns)
			start_ns = g.events.items[i].now_ns;
	find_lanes(&g);
	put_head(&g);
	put_drawing(&g, start_ns);
	put_list(&g, start_ns);
	put(&g, "</body></html>\n");
	flush(&g);
	return g.has_failed ? -1 : 0;
}
