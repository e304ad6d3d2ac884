/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of what the guest is given, and the CPU it will see: see inputs.h. */
#include "run/inputs.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/tree.h"

/* The lines of /proc/cpuinfo that tell a model apart, x86-64's and aarch64's. */
static const char *const keys[] = {"vendor_id", "cpu family", "model", "stepping", "flags",
	"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision",
	"Features"};

static bool has_word(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = line; (p = memmem(p, (size_t)(line + len - p), word, n)); p += n)
		if ((p == line || p[-1] == ' ') && (p + n == line + len || p[n] == ' '))
			return true;
	return false;
}

void inputs_cpu_from(const char *cpuinfo, char ret[80])
{
	auto_digest struct digest *d = digest_new();
	char text[DIGEST_TEXT];

	/* The first processor's block ends with an empty line. */
	for (const char *line = cpuinfo; *line && *line != '\n';) {
		const char *end = strchrnul(line, '\n'),
			   *colon = memchr(line, ':', (size_t)(end - line));

		for (size_t i = 0; colon && i < ARRAY_LEN(keys); i++) {
			size_t n = strlen(keys[i]);

			if (strncmp(line, keys[i], n) != 0 ||
				(line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
				continue;
			if (has_word(colon + 1, (size_t)(end - colon - 1), "cpuid_fault")) {
				ret[0] = '\0';
				return;
			}
			/* "model" is also how "model name" begins. */
			if (strncmp(line, "model name", 10) == 0)
				continue;
			digest_update(d, keys[i], n);
			digest_update(d, colon, (size_t)(end - colon));
			digest_update(d, "\n", 1);
		}
		line = *end ? end + 1 : end;
	}
	digest_text(d, text);
	snprintf(ret, 80, "host:%s", text);
}

int inputs_digest(struct contract *c, struct inputs *ret, struct error *err)
{
	if (!ret->image[0] && c->copy_dir && tree_digest_path(c->copy_dir, ret->cwd, err) < 0)
		return -1;
	if (!ret->image[0] && c->rootfs && tree_digest_path(c->rootfs, ret->rootfs, err) < 0)
		return -1;
	for (size_t i = 0; i < c->bind_count; i++)
		if (tree_digest_path(c->binds[i].source, c->binds[i].digest, err) < 0)
			return -1;
	return 0;
}

int inputs_cpu(char ret[80], struct error *err)
{
	autoclose int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	autofree char *text = NULL;
	size_t len;

	if (fd < 0 || fd_slurp(fd, 16 * 1024 * 1024, &text, &len, err) < 0)
		return fd < 0 ? error_sys(err, "open /proc/cpuinfo")
			      : error_wrap(err, "/proc/cpuinfo");
	inputs_cpu_from(text, ret);
	return 0;
}
