/* SPDX-License-Identifier: Apache-2.0 */
/* The one error object: see error.h. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const unsigned char statuses[] = {
#define X(name, status, meaning) status,
#include "base/error.def"
#undef X
};
_Static_assert(ARRAY_LEN(statuses) == ERR_COUNT, "one status a code");

void error_fill(struct error *err, enum errcode code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	err->code = code;
	err->sys = 0;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
}

void error_fill_sys(struct error *err, const char *fmt, ...)
{
	int sys = errno;
	size_t len;
	va_list ap;

	if (!err)
		return;
	err->code = sys == ENOENT ? ERR_MISSING : ERR_SYSTEM;
	err->sys = sys;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", strerror(sys));
}

void error_fill_wrap(struct error *err, const char *fmt, ...)
{
	char old[sizeof((struct error){0}.msg)];
	size_t len;
	va_list ap;

	if (!err)
		return;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", old);
}

int error_status(const struct error *err)
{
	return statuses[err->code];
}
