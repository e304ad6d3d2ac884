/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes; the only place where GNU extensions are spelled out. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))
#define CLEANUP(fn) __attribute__((cleanup(fn)))
/* A function that uses instructions which not every CPU has: its caller asks first. */
#define NEEDS_CPU(feature) __attribute__((target(feature)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
