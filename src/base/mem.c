/* SPDX-License-Identifier: Apache-2.0 */
/* Heap memory that never returns NULL: see mem.h. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static NORETURN void out_of_memory(void)
{
	static const char text[] = "sandglass: out of memory\n";
	ssize_t ignored UNUSED = write(2, text, sizeof(text) - 1);

	abort();
}

void *mem_alloc(size_t size)
{
	return mem_array(1, size);
}

void *mem_array(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_grow(void *ptr, size_t count, size_t size)
{
	void *p = reallocarray(ptr, count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_dup(const void *ptr, size_t size)
{
	void *p = mem_alloc(size);

	if (size)
		memcpy(p, ptr, size);
	return p;
}

char *mem_strdup(const char *s)
{
	return mem_dup(s, strlen(s) + 1);
}

char *mem_strndup(const char *s, size_t max)
{
	size_t len = strnlen(s, max);
	char *p = mem_alloc(len + 1);

	memcpy(p, s, len);
	return p;
}

void mem_cleanup(void *ptr_to_ptr)
{
	free(mem_take(ptr_to_ptr));
}

void *mem_take(void *ptr_to_ptr)
{
	void *p;

	memcpy(&p, ptr_to_ptr, sizeof(p));
	memset(ptr_to_ptr, 0, sizeof(p));
	return p;
}
