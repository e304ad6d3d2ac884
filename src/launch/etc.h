/* SPDX-License-Identifier: Apache-2.0 */
/* /etc of the host view: the fixed texts, and which of the host's own entries are shown. */
#ifndef LAUNCH_ETC_H
#define LAUNCH_ETC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "wire/contract.h"

struct etc_file {
	const char *name;
	bool replaces; /* also in a given root file system */
	const char *text;
};

extern const struct etc_file etc_files[];
extern const size_t etc_file_count;

/* The text of a file for this contract; the caller frees. */
char *etc_text(const struct etc_file *f, const struct contract *c);
/* True when the view shows this entry of the host's /etc (a plain name, or ssl/NAME). */
bool etc_is_shown(const char *name);
/* Never alike for two workflows, always for two runs of one: 32 hexadecimal digits. */
void etc_machine_id(const struct contract *c, char ret_id[static 33]);

#endif
