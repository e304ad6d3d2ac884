/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandglass-pack-host OBJECT: loads a pack that is a shared object (sandglass_pack_v1) and speaks
 * the protocol of packs for it. Runs in the container of a trial.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"
#include "pack/sandglass_pack.h"

enum { HEAR = 3, SPEAK = 4 };

static FILE *hearing;
static const struct sandglass_pack_v1 *pack;
static char *reply;    /* the text of the last one */
static char said[400]; /* why the last request failed */

static void do_one(json_t *message);

static void tell(json_t *message)
{
	autofree char *text = json_dumps(message, JSON_COMPACT), *line = NULL;

	line = str_format("%s\n", text ? text : "{}");
	(void)!fd_write_all(SPEAK, line, strlen(line), NULL);
	json_decref(message);
}

/* The next message, owned; at the end of them there is nothing left to do. */
static json_t *hear(void)
{
	static char *line;
	static size_t room;
	ssize_t len = getline(&line, &room, hearing);
	json_t *message = len > 0 ? json_loadb(line, (size_t)len, JSON_ALLOW_NUL, NULL) : NULL;

	if (!message)
		exit(0);
	return message;
}

static int ask(const struct sandglass_runtime_v1 *rt, const char *request, const char **ret_reply)
{
	auto_json json_t *asked = json_loads(request, 0, NULL);

	(void)rt;
	if (!asked) {
		snprintf(said, sizeof(said), "the request is no JSON");
		return -1;
	}
	tell(take_ptr(asked));
	for (;;) {
		auto_json json_t *m = hear();
		json_t *answer = json_object_get(m, "reply");
		const char *refused = json_string_value(json_object_get(m, "refused"));

		if (answer) {
			free(reply);
			reply = json_dumps(answer, 0);
			if (ret_reply)
				*ret_reply = reply;
			return 0;
		}
		if (refused) {
			snprintf(said, sizeof(said), "%s", refused);
			return -1;
		}
		do_one(m);
	}
}

static int append(const struct sandglass_runtime_v1 *rt, const char *type, const char *payload)
{
	auto_json json_t *data = json_loads(payload, 0, NULL);
	autofree char *text = NULL;
	auto_json json_t *request = NULL;

	if (!json_is_object(data)) {
		snprintf(said, sizeof(said), "the payload is no JSON object");
		return -1;
	}
	request = json_pack("{s:{s:s,s:O}}", "append", "type", type, "payload", data);
	text = request ? json_dumps(request, 0) : NULL;
	return ask(rt, text ? text : "", NULL);
}

static int run_until_idle(const struct sandglass_runtime_v1 *rt)
{
	return ask(rt, "{\"idle\":{}}", NULL);
}

static const char *last_error(const struct sandglass_runtime_v1 *rt)
{
	(void)rt;
	return said;
}

static const struct sandglass_runtime_v1 runtime = {
	.size = sizeof(runtime),
	.append = append,
	.run_until_idle = run_until_idle,
	.request = ask,
	.error = last_error,
};

static const char *text_of(const json_t *m, const char *key)
{
	const char *v = json_string_value(json_object_get(m, key));

	return v ? v : "";
}

static void load(const char *path)
{
	autofree char *full = str_format("/pack/%s", path);
	void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	pack = dlsym(handle, "sandglass_pack_v1");
	if (!pack || pack->size < sizeof(*pack) || !pack->surface) {
		fprintf(stderr, "'%s' exports no sandglass_pack_v1\n", path);
		exit(1);
	}
}

static int scenario(const json_t *m)
{
	autofree char *full = str_format("/pack/%s", text_of(m, "file"));
	autofree char *name = str_format("sandglass_scenario_%s", text_of(m, "function"));
	void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	sandglass_scenario *run = NULL;

	if (!handle) {
		snprintf(said, sizeof(said), "%s", dlerror());
		return -1;
	}
	*(void **)&run = dlsym(handle, name);
	if (!run) {
		snprintf(said, sizeof(said), "'%s' exports no %s", text_of(m, "file"), name);
		return -1;
	}
	return run(&runtime);
}

static int behavior(const json_t *m)
{
	autofree char *event = json_dumps(json_object_get(m, "event"), 0);

	if (!pack->behavior) {
		snprintf(said, sizeof(said), "the pack has no function for behaviors");
		return -1;
	}
	return pack->behavior(&runtime, text_of(m, "behavior"), event);
}

static void do_one(json_t *m)
{
	const char *what = text_of(m, "do");
	autofree char *nonce = mem_strdup(text_of(m, "nonce"));
	json_t *surface = NULL;
	int r = 0;

	snprintf(said, sizeof(said), "it does not say why");
	if (strcmp(what, "describe") == 0) {
		surface = json_loads(pack->surface, 0, NULL);
		if (!surface) {
			snprintf(said, sizeof(said), "its surface is no JSON");
			r = -1;
		}
	} else if (strcmp(what, "scenario") == 0) {
		r = scenario(m);
	} else if (strcmp(what, "behavior") == 0) {
		r = behavior(m);
	} else {
		exit(0);
	}
	if (r < 0)
		tell(json_pack("{s:s,s:s}", "failed", said, "nonce", nonce));
	else if (surface)
		tell(json_pack("{s:s,s:o}", "done", nonce, "surface", surface));
	else
		tell(json_pack("{s:s}", "done", nonce));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: sandglass-pack-host OBJECT (a trial starts it)\n");
		return 2;
	}

	hearing = fdopen(HEAR, "r");
	if (!hearing) {
		fprintf(stderr, "descriptor 3 is not open: a trial starts this program\n");
		return 2;
	}
	load(argv[1]);
	for (;;) {
		auto_json json_t *m = hear();

		do_one(m);
	}
}
