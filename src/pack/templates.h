/* SPDX-License-Identifier: Apache-2.0 */
/* The files of new packs, which templates_make.py writes from the examples. */
#ifndef PACK_TEMPLATES_H
#define PACK_TEMPLATES_H

#include <stddef.h>

struct pack_template {
	const char *lang, *path, *text;
};
extern const struct pack_template pack_templates[];
extern const size_t pack_template_count;

#endif
