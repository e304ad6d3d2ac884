/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a text is JSON: raw_check of raw.h. */
#include <string.h>

#include "base/str.h"
#include "codec/raw.h"
#include "codec/raw_text.h"

struct check {
	const char *start, *p, *end;
	enum raw_rules rules;
	int depth;
	const char *wrong; /* the first thing that is, at p */
};

static bool refuse(struct check *c, const char *what)
{
	if (!c->wrong)
		c->wrong = what;
	return false;
}

static bool check_string(struct check *c)
{
	for (c->p++; c->p < c->end && *c->p != '"'; c->p++) {
		if ((unsigned char)*c->p < ' ')
			return refuse(c, "a control character in a string");
		if (*c->p != '\\')
			continue;
		c->p++;
		if (c->p >= c->end)
			break;
		if (*c->p == 'u') {
			if (raw_hex_4(c->p + 1, c->end) < 0)
				return refuse(c, "no four hexadecimal digits after \\u");
			c->p += 4;
		} else if (!*c->p || !strchr("\"\\/bfnrt", *c->p)) {
			return refuse(c, "an escape that is none");
		}
	}
	if (c->p >= c->end)
		return refuse(c, "a string that does not end");
	c->p++;
	return true;
}

static bool check_word(struct check *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, word, len) != 0)
		return refuse(c, "no JSON value");
	c->p += len;
	return true;
}

static bool check_digits(struct check *c)
{
	if (c->p >= c->end || !raw_is_digit(*c->p))
		return refuse(c, "a number without digits");
	while (c->p < c->end && raw_is_digit(*c->p))
		c->p++;
	return true;
}

static bool check_number(struct check *c)
{
	if (*c->p == '-')
		c->p++;
	if (c->rules == RAW_PYTHON && c->p < c->end && *c->p == 'I')
		return check_word(c, "Infinity");
	if (c->p + 1 < c->end && c->p[0] == '0' && raw_is_digit(c->p[1]))
		return refuse(c, "a number with a zero before it");
	if (!check_digits(c))
		return false;
	if (c->p < c->end && *c->p == '.') {
		c->p++;
		if (!check_digits(c))
			return false;
	}
	if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
		c->p++;
		if (c->p < c->end && (*c->p == '+' || *c->p == '-'))
			c->p++;
		return check_digits(c);
	}
	return true;
}

static bool check_value(struct check *c);

static bool check_container(struct check *c, char close)
{
	const char *start = c->p;
	size_t count = 0;

	if (++c->depth > RAW_DEPTH_MAX)
		return refuse(c, "more than 64 levels");
	for (c->p++;; count++) {
		c->p = raw_skip_space(c->p, c->end);
		if (c->p < c->end && *c->p == close && count == 0)
			break;
		if (close == '}') {
			if (c->p >= c->end || *c->p != '"')
				return refuse(c, "no key");
			if (!check_string(c))
				return false;
			c->p = raw_skip_space(c->p, c->end);
			if (c->p >= c->end || *c->p != ':')
				return refuse(c, "no colon after a key");
			c->p = raw_skip_space(c->p + 1, c->end);
		}
		if (!check_value(c))
			return false;
		c->p = raw_skip_space(c->p, c->end);
		if (c->p < c->end && *c->p == close)
			break;
		if (c->p >= c->end || *c->p != ',')
			return refuse(c, "neither a comma nor the end");
		c->p++;
	}
	c->p++;
	c->depth--;
	if (close == '}' && count > 0 && c->rules == RAW_STRICT &&
		raw_has_duplicates((struct raw){start, (size_t)(c->p - start)}))
		return refuse(c, "the same key twice in the object before it");
	return true;
}

static bool check_value(struct check *c)
{
	if (c->p >= c->end)
		return refuse(c, "no JSON value");
	switch (*c->p) {
	case '{':
		return check_container(c, '}');
	case '[':
		return check_container(c, ']');
	case '"':
		return check_string(c);
	case 't':
		return check_word(c, "true");
	case 'f':
		return check_word(c, "false");
	case 'n':
		return check_word(c, "null");
	case 'N':
		return c->rules == RAW_PYTHON ? check_word(c, "NaN") : refuse(c, "no JSON value");
	case 'I':
		return c->rules == RAW_PYTHON ? check_word(c, "Infinity")
					      : refuse(c, "no JSON value");
	default:
		return *c->p == '-' || raw_is_digit(*c->p) ? check_number(c)
							   : refuse(c, "no JSON value");
	}
}

int raw_check(
	const char *text, size_t len, enum raw_rules rules, struct raw *ret, struct error *err)
{
	struct check c = {.start = text, .p = text, .end = text + len, .rules = rules};
	const char *start;

	if (!str_is_utf8(text, len))
		return error_set(err, ERR_FORMAT, "this is not UTF-8");
	c.p = start = raw_skip_space(c.p, c.end);
	if (check_value(&c)) {
		*ret = (struct raw){start, (size_t)(c.p - start)};
		c.p = raw_skip_space(c.p, c.end);
		if (c.p == c.end)
			return 0;
		refuse(&c, "something after the value");
	}
	return error_set(err, ERR_FORMAT, "byte %zu: %s", (size_t)(c.p - c.start) + 1, c.wrong);
}
