/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, dates and times of TOML: see toml_inside.h. */
#include <stdint.h>
#include <string.h>

#include "pack/toml_inside.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* So many digits as a number from least to most, which `text` begins with. */
static bool field(const char **text, unsigned digits, unsigned least, unsigned most, unsigned *ret)
{
	unsigned v = 0;

	for (unsigned i = 0; i < digits; i++) {
		if (!is_digit((*text)[i]))
			return false;
		v = v * 10 + (unsigned)((*text)[i] - '0');
	}
	*text += digits;
	*ret = v;
	return v >= least && v <= most;
}

/* hh:mm:ss and a fraction. */
static bool time_of_day(const char **text)
{
	unsigned v;

	if (!field(text, 2, 0, 23, &v) || *(*text)++ != ':' || !field(text, 2, 0, 59, &v) ||
		*(*text)++ != ':' || !field(text, 2, 0, 59, &v))
		return false;
	if (**text == '.' && is_digit((*text)[1]))
		for (++*text; is_digit(**text);)
			++*text;
	return true;
}

static const char *offset(const char *p)
{
	const char *q = p + 1;
	unsigned v;

	if (*p == 'Z' || *p == 'z')
		return p + 1;
	if ((*p == '+' || *p == '-') && field(&q, 2, 0, 23, &v) && *q == ':') {
		q++;
		if (field(&q, 2, 0, 59, &v))
			return q;
	}
	return p;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && is_leap);
}

/* The end of the date or time that stands here, NULL: none. */
static const char *date_end(const char *p, bool *ret_is_wrong)
{
	const char *q = p, *after;
	unsigned year, month, day;

	*ret_is_wrong = false;
	if (time_of_day(&q))
		return q;
	q = p;
	if (!field(&q, 4, 0, 9999, &year) || *q++ != '-' || !field(&q, 2, 1, 12, &month) ||
		*q++ != '-' || !field(&q, 2, 1, 31, &day))
		return NULL;
	*ret_is_wrong = year == 0 || day > days_of(year, month);
	after = q + 1;
	if ((*q == 'T' || *q == 't' || *q == ' ') && time_of_day(&after))
		return offset(after);
	return q;
}

static bool is_of_base(char c, unsigned base)
{
	if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
		return true;
	return is_digit(c) && (unsigned)(c - '0') < base;
}

/* Digits with single underscores between them; false past 64 bits, with *p after them anyway. */
static bool digits(const char **p, unsigned base, uint64_t *ret)
{
	bool fits = true;

	*ret = 0;
	while (is_of_base(**p, base) || (**p == '_' && is_of_base((*p)[1], base))) {
		char c = *(*p)++;
		unsigned v;

		if (c == '_')
			continue;
		v = is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
		if (__builtin_mul_overflow(*ret, (uint64_t)base, ret) ||
			__builtin_add_overflow(*ret, (uint64_t)v, ret))
			fits = false;
	}
	return fits;
}

/* The fraction and exponent that make a float. */
static bool float_part(const char **p)
{
	const char *from = *p, *q;
	uint64_t any;

	if (**p == '.' && is_digit((*p)[1])) {
		++*p;
		(void)digits(p, 10, &any);
	}
	q = *p + 1;
	if (**p == 'e' || **p == 'E') {
		q += *q == '+' || *q == '-';
		if (is_digit(*q)) {
			*p = q;
			(void)digits(p, 10, &any);
		}
	}
	return *p != from;
}

static int take_integer(
	struct toml *t, const char *end, bool fits, bool negative, uint64_t v, json_t **ret)
{
	if (!fits || v > (uint64_t)INT64_MAX + negative)
		return toml_wrong(t, "an integer over 64 bits");
	t->pos = end;
	*ret = json_integer(negative ? (json_int_t)(0 - v) : (json_int_t)v);
	return 1;
}

static int prefixed(struct toml *t, json_t **ret)
{
	static const char letters[] = "xob";
	static const unsigned char bases[] = {16, 8, 2};
	const char *p = t->pos, *found = p[0] == '0' && p[1] ? strchr(letters, p[1]) : NULL;
	uint64_t v;
	bool fits;

	if (!found || !is_of_base(p[2], bases[found - letters]))
		return 0;
	p += 2;
	fits = digits(&p, bases[found - letters], &v);
	return take_integer(t, p, fits, false, v, ret);
}

int toml_number(struct toml *t, json_t **ret)
{
	bool negative = *t->pos == '-', is_wrong, fits = true;
	const char *p = date_end(t->pos, &is_wrong);
	uint64_t v = 0;
	int found;

	if (p) {
		if (is_wrong)
			return toml_wrong(t, "a date that there is not");
		t->pos = p;
		*ret = json_real(0);
		return 1;
	}
	found = prefixed(t, ret);
	if (found)
		return found;
	p = t->pos + (negative || *t->pos == '+');
	if (strncmp(p, "inf", 3) == 0 || strncmp(p, "nan", 3) == 0) {
		t->pos = p + 3;
		*ret = json_real(0);
		return 1;
	}
	if (!is_digit(*p))
		return 0;
	/* A number never begins with a zero that more digits follow. */
	if (*p == '0')
		p++;
	else
		fits = digits(&p, 10, &v);
	if (float_part(&p)) {
		t->pos = p;
		*ret = json_real(0);
		return 1;
	}
	return take_integer(t, p, fits, negative, v, ret);
}
