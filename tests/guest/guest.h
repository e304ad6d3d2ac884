/* SPDX-License-Identifier: Apache-2.0 */
/* What the small programs share: an end with a message where something cannot be that must be. */
#ifndef GUEST_H
#define GUEST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value, unless it says that the call failed. */
#define MUST(call) \
	({ \
		__typeof__(call) must_value = (call); \
		if (must_value == (__typeof__(call))-1) { \
			printf("line %d: %s: %s\n", __LINE__, #call, strerror(errno)); \
			exit(1); \
		} \
		must_value; \
	})

/* "name: 5", or "name: -1 Bad file descriptor". */
static inline void tell(const char *name, long long result)
{
	if (result < 0)
		printf("%s: %lld %s\n", name, result, strerror(errno));
	else
		printf("%s: %lld\n", name, result);
}

#endif
