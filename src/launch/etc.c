/* SPDX-License-Identifier: Apache-2.0 */
/* /etc of the host view: see etc.h. */
#include "launch/etc.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/chacha20.h"
#include "base/mem.h"

const struct etc_file etc_files[] = {
#define X(name, replaces, text) {name, replaces, text},
#include "launch/etc.def"
#undef X
};
const size_t etc_file_count = ARRAY_LEN(etc_files);

/*
 * What the dynamic linkers need, and the entries that symlinks under /usr lead to. They are named
 * here, not found by a walk of /usr, which takes a third of a second; a test makes that walk.
 * A trailing * stands for any rest. What holds secrets or the host's identity is never listed.
 */
static const char *const shown[] = {"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-*",
	"alternatives", "ssl/certs", "ssl/openssl.cnf", "locale.alias", "os-release", "java*",
	"python3.*", "perl", "maven*", "ant", "gradle", "php", "ruby*", "lua", "R", "node*", "npm",
	"ghc", "emacs", "vim", "X11", "groff", "fonts", "ghostscript", "texmf", "xml",
	"matplotlibrc", "octave.conf", "gimp", "ImageMagick*", "julia", "mono",
	"dictionaries-common"};

bool etc_is_shown(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		size_t len = strlen(shown[i]);

		if (shown[i][len - 1] == '*' ? strncmp(name, shown[i], len - 1) == 0
					     : strcmp(name, shown[i]) == 0)
			return true;
	}
	return false;
}

void etc_machine_id(const struct contract *c, char ret_id[static 33])
{
	/* Process ordinal 0 is the machine itself: draw 0 is its boot id, draw 1 this. */
	enum { MACHINE = 0, DRAW_MACHINE_ID = 1 };
	unsigned char id[16];

	chacha20_stream(c->entropy_key, MACHINE, (uint64_t)DRAW_MACHINE_ID << 32, id, sizeof(id));
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(ret_id + 2 * i, 3, "%02x", id[i]);
}

/* An address of our own, which the host's first name server stands behind: which one that is does
 * not show. */
static const char *name_server(const struct contract *c)
{
	return contract_has_outside(c) ? "nameserver 10.0.2.3"
				       : "# no name server: nothing but loopback can be reached";
}

char *etc_text(const struct etc_file *f, const struct contract *c)
{
	auto_bytes struct bytes out = {0};
	char id[33], number[16];

	etc_machine_id(c, id);
	for (const char *p = f->text; *p; p++) {
		const char *value = NULL;

		if (*p == '%') {
			p++;
			snprintf(number, sizeof(number), "%u", *p == 'g' ? c->gid : c->uid);
			value = *p == 's'   ? c->hostname
				: *p == 'm' ? id
				: *p == 'n' ? name_server(c)
					    : number;
		}
		bytes_put(&out, value ? value : p, value ? strlen(value) : 1);
	}
	bytes_put_u8(&out, 0);
	return mem_strdup((const char *)out.data);
}
