/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of launch: containers whose init is the obedient probe_init. */
#ifndef TESTS_LAUNCH_BOX_H
#define TESTS_LAUNCH_BOX_H

#include <stdbool.h>

#include "base/attr.h"
#include "launch/launch.h"

/* Fails the case: says where and why on standard error and ends its process. */
#define CHECK(cond) \
	do { \
		if (!(cond)) \
			box_fail(__FILE__, __LINE__, #cond); \
	} while (0)
/* Both strings are shown when they differ. */
#define CHECK_TEXT(got, expected) box_check_text(__FILE__, __LINE__, got, expected)

/* The two cmocka tests of a case, and their entries in the list. */
#define BOX_BOTH(name) \
	static void name##_as_root(void **state) \
	{ \
		(void)state; \
		if (geteuid() != 0) \
			skip(); \
		BOX_RUN(name, false); \
	} \
	static void name##_rootless(void **state) \
	{ \
		(void)state; \
		BOX_RUN(name, true); \
	}
#define BOX_RUN(name, rootless) \
	do { \
		int result_ = box_case(name, rootless); \
		if (result_ == BOX_SKIPPED) \
			skip(); \
		assert_int_equal(result_, 0); \
	} while (0)
#define BOX_ENTRY(name) cmocka_unit_test(name##_as_root), cmocka_unit_test(name##_rootless),

NORETURN void box_fail(const char *file, int line, const char *what);
void box_check_text(const char *file, int line, const char *got, const char *expected);

/* The probe's path, and a directory of the case's own that its user owns; set by box_case. */
extern const char *box_probe;
extern char box_dir[64];

/* A uid that owns nothing, for the rootless half of the cases. */
enum { BOX_UID = 65534, BOX_FAILED = 1, BOX_SKIPPED = 77 };

/* Ends the case, which this host cannot try, and says why. Whatever it made must be undone. */
NORETURN void box_skip(const char *why);

/*
 * Runs the case in a process of its own, as BOX_UID when rootless; afterwards nothing may be left:
 * no process, mount, control group. 0, BOX_SKIPPED or BOX_FAILED; why is on standard error.
 */
int box_case(void (*body)(void), bool rootless);

struct box {
	struct contract contract;
	struct contract_bind binds[8];
	struct launch *launch;
	int control;
	char reply[65536];
	char hello[256]; /* what init said first */
};

void box_init(struct box *b);
void box_bind(struct box *b, const char *source, const char *dest, bool writable);
/* launch_start; -1 with the error when it fails. */
int box_try(struct box *b, struct error *err);
void box_start(struct box *b);
/* One command of the probe; the answer is valid until the next one. */
const char *box_ask(struct box *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Closes the control socket, waits for init and frees all but the launch. */
int box_wait(struct box *b);
void box_finish(struct box *b);

/* A file with this text beneath box_dir; the path is formatted. */
void box_file(const char *text, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The path beneath box_dir; one of four static buffers in turn. */
const char *box_path(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The text of a file beneath directory fd (or AT_FDCWD), "" when there is none. */
const char *box_read(int dir, const char *path);

#endif
