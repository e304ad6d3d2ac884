/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that nothing makes trap: see hidden.h. */
#include "supervise/hidden/hidden.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/entropy.h"
#include "supervise/engine/gmem.h"
#include "supervise/hidden/files.h"
#include "supervise/report.h"

/* Breakpoints of one address space. */
struct hidden_sites {
	unsigned count;
	struct hidden_site *site;
};

struct hidden_sites *hidden_copy(const struct hidden_sites *sites)
{
	struct hidden_sites *copy;

	if (!sites)
		return NULL;
	copy = mem_alloc(sizeof(*copy));
	copy->site = mem_grow(NULL, sites->count, sizeof(*copy->site));
	copy->count = sites->count;
	memcpy(copy->site, sites->site, sites->count * sizeof(*copy->site));
	return copy;
}

void hidden_free(struct hidden_sites *sites)
{
	if (!sites)
		return;
	free(sites->site);
	free(sites);
}

static struct hidden_site *find(struct mm *mm, uint64_t addr)
{
	for (unsigned i = 0; mm->hidden && i < mm->hidden->count; i++)
		if (mm->hidden->site[i].at == addr)
			return &mm->hidden->site[i];
	return NULL;
}

static void remember(struct mm *mm, uint64_t addr, const struct hidden_site *from)
{
	struct hidden_site *site = find(mm, addr);

	if (!site) {
		if (!mm->hidden)
			mm->hidden = mem_alloc(sizeof(*mm->hidden));
		mm->hidden->site = mem_grow(
			mm->hidden->site, mm->hidden->count + 1, sizeof(*mm->hidden->site));
		site = &mm->hidden->site[mm->hidden->count++];
	}
	*site = *from;
	site->at = addr;
}

static void tell_unsure(struct hidden_file *f, const char *path)
{
	if (f->unsure == 0 || f->told)
		return;
	f->told = true;
	report_assumption(REASON_HW_RANDOM_MAPPED,
		"'%s' has %u places that may be %s, the first at %#" PRIx64, path, f->unsure,
		arch_hidden_names, f->unsure_at);
}

void hidden_made_at_run_time(void)
{
	static bool told;

	if (!told)
		report_assumption(REASON_HW_RANDOM_MAPPED,
			"code that the guest makes at run time has no %s", arch_hidden_names);
	told = true;
}

/* One executable mapping of a file: false when it could not be held. */
static bool put_sites(
	struct task *t, const struct hidden_file *f, uint64_t start, uint64_t end, uint64_t offset)
{
	for (unsigned i = 0; i < f->count; i++) {
		const struct hidden_site *site = &f->sites[i];
		unsigned char now[ARCH_INSN_MAX];
		uint64_t addr = start + (site->at - offset);

		if (site->at < offset || addr >= end || site->len > end - addr)
			continue;
		if (gmem_read(t, addr, now, site->len) != 0)
			return false;
		/* Done already, or another text than the file's. */
		if (memcmp(now, site->code, site->len) != 0)
			continue;
		if (gmem_poke(t->mm, addr, arch_breakpoint, arch_breakpoint_len) != 0)
			return false;
		remember(t->mm, addr, site);
	}
	return true;
}

struct mapping {
	uint64_t start, end, offset;
	char modes[8];
	const char *path; /* "" without a file */
};

static void look_at(struct task *t, const struct mapping *m)
{
	autoclose int fd = -1;
	struct hidden_file *f;

	if (m->modes[2] != 'x' || m->path[0] == '[')
		return;
	if (m->path[0] != '/') {
		hidden_made_at_run_time();
		return;
	}
	fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	f = fd < 0 ? NULL : hidden_file_get(fd);
	if (!f) { /* it has no name any more */
		hidden_made_at_run_time();
		return;
	}
	tell_unsure(f, m->path);
	if (f->count == 0)
		return;
	if (m->modes[3] != 'p' || !put_sites(t, f, m->start, m->end, m->offset))
		report_not_enforced(REASON_HW_RANDOM_MAPPED, "'%s' has %s at %#" PRIx64, m->path,
			arch_hidden_names, f->sites[0].at);
}

static void look(struct task *t, uint64_t from, uint64_t to)
{
	char path[32], line[4352];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		struct mapping m = {0};
		int name = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start,
			    &m.end, m.modes, &m.offset, &name) != 4 ||
			m.end <= from || m.start >= to)
			continue;
		m.path = name > 0 ? line + name : "";
		look_at(t, &m);
	}
	if (f)
		fclose(f);
}

static bool matters(const struct hidden_file *f)
{
	return !f || f->count != 0 || (f->unsure != 0 && !f->told);
}

/* A name that leads us where it led the program: not from its directory, and to nothing of /proc.
 */
static bool is_ours_too(const char *name)
{
	return name[0] == '/' && strncmp(name, "/proc/", 6) != 0 && strncmp(name, "/dev/", 5) != 0;
}

void hidden_look_up(const struct task *t, struct hidden_programs *ret)
{
	struct hidden_file *program, *loader = NULL;
	struct stat st = {0}, of_loader;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", t->tid);
	program = hidden_file_at(path, &st);
	if (program && program->interpreter && is_ours_too(program->interpreter)) {
		loader = hidden_file_at(program->interpreter, &of_loader);
		if (program->ino != st.st_ino || program->dev != st.st_dev)
			program = NULL; /* the oldest that was known, and forgotten for the other */
		else if (loader && !loader->name)
			loader->name = mem_strdup(program->interpreter);
	}
	*ret = (struct hidden_programs){program, loader, st.st_dev, st.st_ino};
}

void hidden_exec(struct task *t, const struct hidden_programs *p)
{
	const struct hidden_file *program = p->program;

	if (!arch_hidden_any())
		return;
	/* Hardly any program has one: its mappings are not even asked for. */
	if (!program || matters(program) || (program->interpreter && matters(p->loader)))
		look(t, 0, UINT64_MAX);
}

void hidden_mapped(struct task *t, uint64_t addr, uint64_t len)
{
	if (arch_hidden_any())
		look(t, addr, addr + len);
}

bool hidden_file_matters(int fd)
{
	return arch_hidden_any() && matters(hidden_file_get(fd));
}

bool hidden_trap(struct task *t, struct regs *regs)
{
	const uint64_t addr = arch_ip(regs) - arch_breakpoint_past;
	const struct hidden_site *site = find(t->mm, addr);
	uint64_t random = 0;

	if (!site)
		return false;
	if (arch_hidden_is_random(site->code, site->len))
		entropy_draw(t, &random, sizeof(random));
	arch_set_ip(regs, addr);
	arch_hidden_emulate(regs, site->code, site->len, random);
	return true;
}
