/* SPDX-License-Identifier: Apache-2.0 */
/* References to images: see reference.h. */
#include "image/reference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cas/cas.h"

enum { NAME_MAX_BYTES = 255, TAG_MAX = 128 };

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_word(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

/* [a-z0-9]+ parted by one dot, one or two underscores, or any number of dashes. */
static bool is_component(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t start = i, seps;

		while (i < len && is_lower(s[i]))
			i++;
		if (i == start)
			return false;
		if (i == len)
			return true;
		start = i;
		while (i < len && s[i] == s[start] && strchr("._-", s[i]))
			i++;
		seps = i - start;
		if (seps == 0 || (s[start] == '.' && seps > 1) || (s[start] == '_' && seps > 2))
			return false;
	}
	return false;
}

/* A first component that is a host: it has a dot or a port, or is "localhost". */
static bool is_host(const char *s, size_t len)
{
	return memchr(s, '.', len) || memchr(s, ':', len) ||
	       (len == 9 && memcmp(s, "localhost", 9) == 0);
}

static bool is_host_text(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_word(s[i]) && !strchr(".-:[]", s[i]))
			return false;
	return len > 0 && s[0] != '.' && s[0] != '-';
}

static bool is_name(const char *s, size_t len)
{
	const char *end = s + len, *slash = memchr(s, '/', len);

	if (slash && is_host(s, (size_t)(slash - s))) {
		if (!is_host_text(s, (size_t)(slash - s)))
			return false;
		s = slash + 1;
	}
	for (; s <= end; s = slash + 1) {
		slash = memchr(s, '/', (size_t)(end - s));
		if (!slash)
			slash = end;
		if (!is_component(s, (size_t)(slash - s)))
			return false;
		if (slash == end)
			return true;
	}
	return false;
}

static bool is_tag(const char *s)
{
	size_t len = strlen(s);

	if (len == 0 || len > TAG_MAX || !is_word(s[0]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!is_word(s[i]) && s[i] != '.' && s[i] != '-')
			return false;
	return true;
}

/* Docker's long form of its own images, and what everybody writes. */
static const char *familiar(const char *name)
{
	static const char *const prefixes[] = {
		"docker.io/library/", "index.docker.io/library/", "docker.io/", "index.docker.io/"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (str_has_prefix(name, prefixes[i]))
			return name + strlen(prefixes[i]);
	return name;
}

static int malformed(const char *text, const char *why, struct error *err)
{
	autofree char *shown = str_printable(text, strlen(text), 160);

	return error_set(err, ERR_USAGE, "'%s' is no reference to an image: %s", shown, why);
}

int image_ref_parse(const char *text, struct image_ref *ret, struct error *err)
{
	auto_image_ref struct image_ref r = {0};
	autofree char *left = mem_strdup(text);
	char *at = strchr(left, '@'), *slash, *colon;

	if (cas_digest_find(text, r.digest)) {
		*ret = r;
		r = (struct image_ref){0};
		return 0;
	}
	if (at && !cas_digest_find(at + 1, r.digest))
		return malformed(text, "after '@' comes sha256: and 64 hexadecimal digits", err);
	if (at)
		*at = '\0';
	slash = strrchr(left, '/');
	colon = strrchr(slash ? slash : left, ':');
	if (colon) {
		*colon = '\0';
		if (!is_tag(colon + 1))
			return malformed(text, "a tag is up to 128 of A-Z a-z 0-9 . _ -", err);
		r.tag = mem_strdup(colon + 1);
	}
	if (strlen(left) > NAME_MAX_BYTES || !is_name(left, strlen(left)))
		return malformed(text,
			"a name is lower-case words parted by / . _ - (NAME[:TAG], "
			"NAME@sha256:..., sha256:...)",
			err);
	r.name = mem_strdup(familiar(left));
	*ret = r;
	r = (struct image_ref){0};
	return 0;
}

void image_ref_finish(struct image_ref *r)
{
	free(r->name);
	free(r->tag);
	*r = (struct image_ref){0};
}

char *image_ref_name(const struct image_ref *r)
{
	return r->name ? str_format("%s:%s", r->name, r->tag ? r->tag : "latest") : NULL;
}

int image_ref_is_local(const struct image_ref *r)
{
	static const char *const hosts[] = {"localhost", "127.", "[::1]"};

	for (size_t i = 0; r->name && i < ARRAY_LEN(hosts); i++)
		if (str_has_prefix(r->name, hosts[i]) && strchr(r->name, '/') &&
			is_host(r->name, (size_t)(strchr(r->name, '/') - r->name)))
			return 1;
	return 0;
}
