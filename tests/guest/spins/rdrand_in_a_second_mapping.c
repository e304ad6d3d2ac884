/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is mapped while the program runs, and code that mprotect makes executable, is searched
 * too.
 *: varies
 *: long
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t draw(void)
{
	uint64_t value;

	__asm__ volatile("rdrand %0" : "=r"(value) : : "cc");
	return value;
}

extern const char __ehdr_start[];

/* The same function in another mapping of the whole file. */
static unsigned long draw_in(const unsigned char *copy)
{
	const Elf64_Ehdr *head = (const void *)copy;
	const Elf64_Phdr *segment = (const void *)(copy + head->e_phoff);
	uint64_t address = (uint64_t)(uintptr_t)draw - (uint64_t)(uintptr_t)__ehdr_start;
	uint64_t (*call)(void) = NULL;

	for (int i = 0; i < head->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD &&
			address - segment[i].p_vaddr < segment[i].p_filesz) {
			const unsigned char *code =
				copy + segment[i].p_offset + (address - segment[i].p_vaddr);

			memcpy(&call, &code, sizeof(call));
			break;
		}
	return call ? call() : 0;
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	void *direct, *later;

	fstat(fd, &st);
	direct = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	later = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	mprotect(later, (size_t)st.st_size, PROT_READ | PROT_EXEC);
	printf("%016lx %016lx %016lx\n", (unsigned long)draw(), draw_in(direct), draw_in(later));
	return 0;
}
