/* SPDX-License-Identifier: Apache-2.0 */
/* What came of looking at a signed file: every reason, and the one word and status of them all. */
#ifndef ATTEST_VERDICT_H
#define ATTEST_VERDICT_H

#include "base/attr.h"
#include "codec/json.h"

/* In order of precedence, the weakest first. */
enum verdict_class {
	VERDICT_VERIFIED,
	VERDICT_UNANCHORED,
	VERDICT_INCOMPLETE,
	VERDICT_UNREADABLE,
	VERDICT_FAILED,
	VERDICT_CLASSES
};

enum verdict_reason {
#define X(name, code, class, meaning) VERDICT_##name,
#include "attest/verdict.def"
#undef X
	VERDICT_REASONS
};

struct verdict {
	enum verdict_class worst;
	json_t *reasons;   /* array of {code, class, detail} */
	json_t *checked;   /* array of {what, digest}: re-hashed and found right */
	json_t *unchecked; /* array of {what, digest}: not at hand, and not needed */
};

void verdict_init(struct verdict *v);
void verdict_finish(struct verdict *v);
#define auto_verdict CLEANUP(verdict_finish)

/* detail, formatted, may be longer than any line: it comes from outside and is made printable. */
void verdict_add(struct verdict *v, enum verdict_reason why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void verdict_checked(struct verdict *v, const char *what, const char *digest);
void verdict_unchecked(struct verdict *v, const char *what, const char *digest);

/* "verified", "unanchored" and so on; and the exit status of the receipt commands. */
const char *verdict_word(enum verdict_class c);
int verdict_status(enum verdict_class c);

#endif
