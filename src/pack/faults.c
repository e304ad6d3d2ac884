/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a pack: see faults.h. */
#include "pack/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"

void faults_finish(struct faults *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->items[i]);
	free(f->items);
	*f = (struct faults){0};
}

void faults_add(struct faults *f, const char *fmt, ...)
{
	enum { FAULT_MAX = 1000 };
	char text[FAULT_MAX];
	va_list args;

	if (f->count == FAULTS_MAX) {
		f->left_out++;
		return;
	}
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	f->items = mem_grow(f->items, f->count + 1, sizeof(*f->items));
	/* Names in it are anybody's. */
	f->items[f->count++] = str_printable(text, strlen(text), sizeof(text));
}

char *faults_text(const struct faults *f)
{
	auto_bytes struct bytes text = {0};

	for (size_t i = 0; i < f->count; i++) {
		if (i)
			bytes_put(&text, "; ", 2);
		bytes_put(&text, f->items[i], strlen(f->items[i]));
	}
	if (f->left_out) {
		autofree char *more = str_format("; and %zu more", f->left_out);

		bytes_put(&text, more, strlen(more));
	}
	bytes_put_u8(&text, 0);
	return mem_take(&text.data);
}

int faults_error(const struct faults *f, const char *what, struct error *err)
{
	autofree char *text = NULL;

	if (!f->count)
		return 0;
	text = faults_text(f);
	return error_set(err, ERR_FORMAT, "%s: %s", what, text);
}
