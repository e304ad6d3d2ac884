/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that use the store of content share: see store.h. */
#include "cli/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/paths.h"

static uint64_t last_shown_ns;

int cli_store_open(const char *dir, enum cas_mode mode, struct cas **ret, struct error *err)
{
	autofree char *state = NULL, *path = NULL;

	if (dir)
		return cas_open(dir, mode, ret, err);
	if (paths_find(PATHS_STATE, &state, err) < 0)
		return -1;
	path = path_join(state, "cas");
	return cas_open(path, mode, ret, err);
}

int cli_store_find(struct cas *c, const char *word, char ret[DIGEST_TEXT], struct error *err)
{
	int found;

	if (cas_digest_find(word, ret))
		return 0;
	found = cas_root_find(c, word, ret, err);
	if (found == 0)
		return error_set(err, ERR_MISSING,
			"'%.140s' is neither a digest nor the name of a root", word);
	return found < 0 ? -1 : 0;
}

static void show(void *context, uint64_t bytes)
{
	uint64_t now = clock_host_ns();

	if (now - last_shown_ns < 100000000)
		return;
	last_shown_ns = now;
	fprintf(stderr, "\r%s: %" PRIu64 " MiB\033[K", (const char *)context, bytes >> 20);
	fflush(stderr);
}

struct cas_progress cli_progress(const char *what)
{
	return (struct cas_progress){isatty(STDERR_FILENO) ? show : NULL, (void *)(uintptr_t)what};
}

void cli_progress_end(void)
{
	if (last_shown_ns)
		fputs("\r\033[K", stderr);
	last_shown_ns = 0;
}

void cli_print_json(json_t *value)
{
	auto_json json_t *owned = value;
	autofree char *text = json_text(owned);

	printf("%s\n", text);
}
