/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a run executed: see programs.h. */
#include "run/programs.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/beneath.h"

void programs_finish(struct programs *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i].path);
	free(p->items);
	*p = (struct programs){0};
}

void programs_add(struct programs *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i].path, path) == 0)
			return;
	if (p->count == PROGRAMS_MAX)
		return;
	p->items = mem_grow(p->items, p->count + 1, sizeof(*p->items));
	p->items[p->count++] = (struct program){.path = mem_strdup(path)};
}

char *programs_host_path(const struct contract *c, const char *path)
{
	static const char *const view[] = {
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"};
	const struct contract_bind *best = NULL;

	for (size_t i = 0; i < c->bind_count; i++)
		if (path_is_in(path, c->binds[i].dest) &&
			(!best || strlen(c->binds[i].dest) >= strlen(best->dest)))
			best = &c->binds[i];
	if (best)
		return str_format("%s%s", best->source, path + strlen(best->dest));
	if (!c->rootfs && c->copy_dir && path_is_in(path, c->copy_dir))
		return mem_strdup(path);
	if (c->rootfs)
		return str_format("%s%s", c->rootfs, path);
	for (size_t i = 0; i < ARRAY_LEN(view); i++)
		if (path_is_in(path, view[i]))
			return mem_strdup(path);
	return NULL;
}

/* The file behind a path inside, the written layer first; -1 when there is none to be read. */
static int open_program(const struct contract *c, const char *path, int written)
{
	autofree char *host = programs_host_path(c, path);
	struct stat st;
	int fd = -1;

	if (written >= 0 && c->copy_dir && path_is_in(path, c->copy_dir) &&
		path[strlen(c->copy_dir)])
		fd = beneath_open_file(written, path + strlen(c->copy_dir) + 1, &st);
	if (fd < 0 && host)
		fd = fd_open_file(host);
	return fd;
}

static char *script_interpreter(const char *head, size_t len)
{
	const char *end = memchr(head, '\n', len), *start = head + 2;
	const char *stop = end ? end : head + len;

	while (start < stop && (*start == ' ' || *start == '\t'))
		start++;
	for (end = start; end < stop && *end != ' ' && *end != '\t' && *end; end++)
		;
	return end > start && *start == '/' ? mem_strndup(start, (size_t)(end - start)) : NULL;
}

static char *elf_interpreter(int fd, const Elf64_Ehdr *head)
{
	for (unsigned i = 0; i < head->e_phnum && i < 64; i++) {
		char path[256] = "";
		Elf64_Phdr part;

		if (pread(fd, &part, sizeof(part), (off_t)(head->e_phoff + i * sizeof(part))) !=
			sizeof(part))
			return NULL;
		if (part.p_type != PT_INTERP)
			continue;
		if (part.p_filesz >= sizeof(path) ||
			pread(fd, path, part.p_filesz, (off_t)part.p_offset) !=
				(ssize_t)part.p_filesz)
			return NULL;
		return path[0] == '/' ? mem_strdup(path) : NULL;
	}
	return NULL;
}

char *programs_interpreter(int fd)
{
	char head[256] = {0};
	ssize_t n = pread(fd, head, sizeof(head) - 1, 0);
	Elf64_Ehdr elf;

	if (n > 2 && head[0] == '#' && head[1] == '!')
		return script_interpreter(head, (size_t)n);
	if (n < (ssize_t)sizeof(elf) || memcmp(head, ELFMAG, SELFMAG) != 0 ||
		head[EI_CLASS] != ELFCLASS64)
		return NULL;
	memcpy(&elf, head, sizeof(elf));
	return elf.e_phentsize == sizeof(Elf64_Phdr) ? elf_interpreter(fd, &elf) : NULL;
}

void programs_digest(struct programs *p, const struct contract *c, int written)
{
	/* The list grows by interpreters while it is walked. */
	for (size_t i = 0; i < p->count; i++) {
		autoclose int fd = open_program(c, p->items[i].path, written);
		autofree char *interpreter = NULL;
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		interpreter = programs_interpreter(fd);
		if (digest_of_fd(fd, p->items[i].sha256, NULL, NULL) < 0)
			p->items[i].sha256[0] = '\0';
		if (interpreter)
			programs_add(p, interpreter);
	}
}
