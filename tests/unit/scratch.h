/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own, filled by shell text, removed at its end. */
#ifndef UNIT_SCRATCH_H
#define UNIT_SCRATCH_H

struct scratch {
	char dir[64];
};

/* cmocka's set-up and teardown: *state is a struct scratch. */
int scratch_setup(void **state);
int scratch_teardown(void **state);

/* Runs `sh -ec text` there with umask 022; its exit status. */
int scratch_shell(const struct scratch *s, const char *text);
/* A directory below it, made; a descriptor. */
int scratch_dir(const struct scratch *s, const char *name);
/* The path of something below it (caller frees). */
char *scratch_path(const struct scratch *s, const char *name);

#endif
