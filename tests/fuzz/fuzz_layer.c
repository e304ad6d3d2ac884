/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer from anybody, laid over a tree that has symlinks out of it: whatever it holds, nothing
 * beside the tree changes, and the tree can be removed.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/remove.h"
#include "image/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static int next(void *context, const void **ret_data, size_t *ret_len, struct error *err)
{
	struct input *in = context;
	size_t len = in->size < 700 ? in->size : 700;

	(void)err;
	*ret_data = in->data;
	*ret_len = len;
	in->data += len;
	in->size -= len;
	return len > 0;
}

static void lay(int tree, const uint8_t *data, size_t size)
{
	const struct archive_bounds bounds = {1 << 20, 1000};
	struct input in = {data, size};
	const struct archive_input input = {.next = next, .context = &in};
	struct archive_tree *t = NULL;
	struct archive_counts counts;
	struct error err;

	if (archive_tree_open(tree, &bounds, &t, &err) < 0)
		abort();
	/* As the lowest layer, and as one over it. */
	if (archive_apply(t, &input, false, &err) == 0) {
		in = (struct input){data, size};
		if (archive_apply(t, &input, false, &err) == 0)
			(void)!archive_settle(t, &counts, &err);
	}
	archive_tree_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int top = -1;
	static char path[] = "/tmp/fuzz-layer-XXXXXX";
	autoclose int outside = -1, tree = -1;
	struct error err;
	struct stat st;

	if (top < 0) {
		if (!mkdtemp(path))
			abort();
		top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (mkdirat(top, "outside", 0755) < 0 || mkdirat(top, "tree", 0755) < 0)
		abort();
	outside = openat(top, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree = openat(top, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outside < 0 || tree < 0 || symlinkat("../outside", tree, "out") < 0)
		abort();
	lay(tree, data, size);
	/* No entry was made in it: a directory would be a link more, a file another time. */
	if (fstat(outside, &st) < 0 || st.st_nlink != 2 ||
		unlinkat(top, "outside", AT_REMOVEDIR) < 0)
		abort();
	if (remove_tree(top, "tree", &err) < 0)
		abort();
	return 0;
}
