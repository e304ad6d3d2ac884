/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of launch: containers whose init is the obedient probe_init. */
#ifndef TESTS_LAUNCH_BOX_H
#define TESTS_LAUNCH_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

NORETURN void box_fail(const char *file, int line, const char *what);
void box_check_text(const char *file, int line, const char *got, const char *expected);

/* The probe's path, and a directory of the case's own that its user owns; set by box_main. */
extern const char *box_probe;
extern char box_dir[64];

/* A uid that owns nothing, for the rootless half of the cases. */
enum { BOX_UID = 65534, BOX_FAILED = 1, BOX_SKIPPED = 77 };

/* Ends the case, which this host cannot try, and says why. Whatever it made must be undone. */
NORETURN void box_skip(const char *why);

enum box_who { BOX_AS_ROOT = 1, BOX_ROOTLESS = 2, BOX_BOTH = 3 };

struct box_case {
	const char *name; /* a sentence */
	void (*body)(void);
	enum box_who who;
};

#define BOX_CASE(name, who) \
	{ \
#name, name, who \
	}

/*
 * Runs each case in a process of its own, as root and as BOX_UID. Afterwards nothing of it may be
 * left: no process, mount or control group. Speaks TAP (cmocka's says `not ok` of a skipped case);
 * why one failed is on standard error. argv[1] is the probe. Returns the exit status of main.
 */
int box_main(int argc, char **argv, const struct box_case *cases, size_t count);

/* Control groups that this process made for runs and that are there. */
int box_groups_of(pid_t pid);

struct box {
	struct contract contract;
	struct contract_bind binds[8];
	struct launch *launch;
	int control;
	int input; /* becomes descriptor 0; ours unless set */
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
