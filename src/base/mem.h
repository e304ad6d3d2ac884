/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap memory that never returns NULL: running out aborts with one line. So every size that comes
 * from outside is bounded by the caller first. Also the cleanup idiom for owned memory.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

#include "base/attr.h"

void *mem_alloc(size_t size);			      /* zeroed */
void *mem_array(size_t count, size_t size);	      /* zeroed; overflow aborts */
void *mem_grow(void *ptr, size_t count, size_t size); /* realloc; new bytes are not zeroed */
void *mem_dup(const void *ptr, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t max);

/* For `autofree char *p = NULL;`. */
void mem_cleanup(void *ptr_to_ptr);
#define autofree CLEANUP(mem_cleanup)

/* Gives the pointer away: the local becomes NULL. */
void *mem_take(void *ptr_to_ptr);
#define take_ptr(lvalue) ((__typeof__(lvalue))mem_take(&(lvalue)))

#endif
