/* SPDX-License-Identifier: Apache-2.0 */
/* Text to numbers: see num.h. */
#include "base/num.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads at least one digit at *p into *ret; false on none or when it would pass max. */
static bool take_digits(const char **p, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!is_digit(**p))
		return false;
	for (; is_digit(**p); (*p)++) {
		uint64_t d = (uint64_t)(**p - '0');

		if (v > (max - d) / 10 || d > max)
			return false;
		v = v * 10 + d;
	}
	*ret = v;
	return true;
}

int num_parse_u64(const char *text, uint64_t max, uint64_t *ret, struct error *err)
{
	const char *p = text;
	uint64_t v;

	if (!take_digits(&p, UINT64_MAX, &v) || *p)
		return error_set(err, ERR_USAGE, "'%s' is not a whole number", text);
	if (v > max)
		return error_set(
			err, ERR_USAGE, "'%s' is more than %llu", text, (unsigned long long)max);
	*ret = v;
	return 0;
}

int num_parse_size(const char *text, uint64_t *ret, struct error *err)
{
	static const char units[] = "KMGT";
	const char *p = text, *unit;
	unsigned shift = 0;
	uint64_t v;

	if (!take_digits(&p, UINT64_MAX, &v))
		return error_set(err, ERR_USAGE, "'%s' is not a size like 512M or 2G", text);
	if (*p) {
		unit = strchr(units, *p >= 'a' ? *p - 'a' + 'A' : *p);
		if (!unit || p[1])
			return error_set(
				err, ERR_USAGE, "'%s' is not a size like 512M or 2G", text);
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (v > UINT64_MAX >> shift)
		return error_set(err, ERR_USAGE, "'%s' is too large", text);
	*ret = v << shift;
	return 0;
}

int num_parse_mode(const char *text, unsigned *ret, struct error *err)
{
	enum { LEAST = 3, MOST = 5, MODE_MAX = 07777 };
	size_t n = strspn(text, "01234567");
	unsigned mode = 0;

	for (size_t i = 0; i < n && n <= MOST; i++)
		mode = mode * 8 + (unsigned)(text[i] - '0');
	if (n < LEAST || n > MOST || text[n] || mode > MODE_MAX)
		return error_set(err, ERR_USAGE, "'%.40s' is no octal mode like 0644", text);
	*ret = mode;
	return 0;
}

/* ".digits" at *p as parts of one unit of scale; digits past the scale's are dropped. */
static bool take_fraction(const char **p, uint64_t scale, uint64_t *ret)
{
	*ret = 0;
	if (**p != '.')
		return true;
	(*p)++;
	if (!is_digit(**p))
		return false;
	for (; is_digit(**p); (*p)++) {
		uint64_t digit = (uint64_t)(**p - '0');

		*ret += digit * scale / 10;
		scale /= 10;
	}
	return true;
}

int num_parse_duration(const char *text, uint64_t *ret_ns, struct error *err)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", NUM_SECOND_NS}, {"ns", 1}, {"us", 1000}, {"ms", 1000000},
		{"s", NUM_SECOND_NS}, {"m", 60 * NUM_SECOND_NS}, {"h", 3600 * NUM_SECOND_NS},
		{"d", 86400 * NUM_SECOND_NS}};
	const char *p = text, *fraction_at;
	uint64_t whole, part;

	if (!take_digits(&p, UINT64_MAX, &whole))
		return error_set(
			err, ERR_USAGE, "'%s' is not a duration like 30s, 500ms or 5m", text);
	fraction_at = p;
	if (!take_fraction(&p, 1, &part))
		return error_set(
			err, ERR_USAGE, "'%s' is not a duration like 30s, 500ms or 5m", text);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(units[i].name, p) != 0)
			continue;
		if (!take_fraction(&fraction_at, units[i].ns, &part) ||
			whole > (INT64_MAX - part) / units[i].ns)
			return error_set(err, ERR_USAGE, "'%s' is too long", text);
		*ret_ns = whole * units[i].ns + part;
		return 0;
	}
	return error_set(
		err, ERR_USAGE, "'%s' has the unknown unit '%s': use ns us ms s m h d", text, p);
}

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar, year >= 1970. */
static uint64_t days_from_date(uint64_t year, uint64_t month, uint64_t day)
{
	static const uint64_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	uint64_t y = year - 1;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	uint64_t days = 365 * (year - 1970) + (y / 4 - y / 100 + y / 400) -
			(1969 / 4 - 1969 / 100 + 1969 / 400);

	return days + before[month - 1] + (leap && month > 2) + day - 1;
}

static uint64_t days_in_month(uint64_t year, uint64_t month)
{
	return month == 12 ? 31
			   : days_from_date(year, month + 1, 1) - days_from_date(year, month, 1);
}

/* Exactly `width` digits at *p, then `after` (0: nothing to skip). */
static bool take_field(const char **p, int width, char after, uint64_t *ret)
{
	uint64_t v = 0;

	for (int i = 0; i < width; i++, (*p)++) {
		if (!is_digit(**p))
			return false;
		v = v * 10 + (uint64_t)(**p - '0');
	}
	if (after && *(*p)++ != after)
		return false;
	*ret = v;
	return true;
}

/* "Z" or +hh:mm at *p; adds it to *seconds, so that they become UTC. */
static bool take_offset(const char **p, int64_t *seconds)
{
	uint64_t hours, minutes;
	char sign = **p;

	if (sign == 'Z' || sign == 'z') {
		(*p)++;
		return true;
	}
	if (sign != '+' && sign != '-')
		return false;
	(*p)++;
	if (!take_field(p, 2, ':', &hours) || !take_field(p, 2, 0, &minutes) || hours > 23 ||
		minutes > 59)
		return false;
	*seconds += (int64_t)(hours * 3600 + minutes * 60) * (sign == '+' ? -1 : 1);
	return true;
}

static bool parse_rfc3339(const char *p, int64_t *ret_seconds, uint64_t *ret_ns)
{
	uint64_t year, month, day, hour, minute, second;

	if (!take_field(&p, 4, '-', &year) || !take_field(&p, 2, '-', &month) ||
		!take_field(&p, 2, 0, &day))
		return false;
	if (*p != 'T' && *p != 't' && *p != ' ')
		return false;
	p++;
	if (!take_field(&p, 2, ':', &hour) || !take_field(&p, 2, ':', &minute) ||
		!take_field(&p, 2, 0, &second))
		return false;
	if (year < 1970 || year > 2262 || month < 1 || month > 12 || day < 1 ||
		day > days_in_month(year, month) || hour > 23 || minute > 59 || second > 59)
		return false;
	*ret_seconds = (int64_t)(days_from_date(year, month, day) * 86400 + hour * 3600 +
				 minute * 60 + second);
	return take_fraction(&p, NUM_SECOND_NS, ret_ns) && take_offset(&p, ret_seconds) && !*p;
}

static bool parse_seconds(const char *p, int64_t *ret_seconds, uint64_t *ret_ns)
{
	uint64_t v;

	if (*p == '@')
		p++;
	if (!take_digits(&p, INT64_MAX, &v) || !take_fraction(&p, NUM_SECOND_NS, ret_ns) || *p)
		return false;
	*ret_seconds = (int64_t)v;
	return true;
}

int num_parse_time(const char *text, uint64_t *ret_ns, struct error *err)
{
	int64_t seconds;
	uint64_t ns;

	if (!parse_seconds(text, &seconds, &ns) && !parse_rfc3339(text, &seconds, &ns))
		return error_set(err, ERR_USAGE,
			"'%s' is not a time: use seconds since 1970 or RFC 3339, like "
			"2023-11-14T22:13:20Z",
			text);
	if (seconds < 0 || (uint64_t)seconds > INT64_MAX / NUM_SECOND_NS - 1)
		return error_set(err, ERR_USAGE, "'%s' is outside 1970 to 2262", text);
	*ret_ns = (uint64_t)seconds * NUM_SECOND_NS + ns;
	return 0;
}

void num_format_time(char out[NUM_TIME_SIZE], uint64_t ns)
{
	uint64_t seconds = ns / NUM_SECOND_NS, day = seconds / 86400, year = 1970, month = 1;
	uint64_t rest = seconds % 86400, part = ns % NUM_SECOND_NS;
	size_t len;

	while (days_from_date(year + 1, 1, 1) <= day)
		year++;
	day -= days_from_date(year, 1, 1);
	while (day >= days_in_month(year, month))
		day -= days_in_month(year, month++);
	len = (size_t)snprintf(out, NUM_TIME_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u",
		(unsigned)(year % 10000), (unsigned)(month % 100), (unsigned)((day + 1) % 100),
		(unsigned)(rest / 3600), (unsigned)(rest / 60 % 60), (unsigned)(rest % 60));
	if (part) {
		len += (size_t)snprintf(out + len, NUM_TIME_SIZE - len, ".%09u", (unsigned)part);
		while (out[len - 1] == '0')
			len--;
	}
	out[len] = 'Z';
	out[len + 1] = '\0';
}

void num_format_real(char out[NUM_REAL_SIZE], double v)
{
	/* 17 digits tell any two doubles apart (IEEE 754, binary64). */
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(out, NUM_REAL_SIZE, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			return;
	}
}

/* Of digits, an optional fraction, an optional exponent: JSON's grammar (RFC 8259, section 6). */
static bool is_json_number(const char *s)
{
	size_t n;

	s += *s == '-';
	n = strspn(s, "0123456789");
	if (n == 0 || (n > 1 && *s == '0'))
		return false;
	s += n;
	if (*s == '.') {
		n = strspn(++s, "0123456789");
		if (n == 0)
			return false;
		s += n;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		n = strspn(s, "0123456789");
		if (n == 0)
			return false;
		s += n;
	}
	return !*s;
}

int num_parse_real(const char *text, double *ret, struct error *err)
{
	double v = is_json_number(text) ? strtod(text, NULL) : HUGE_VAL;

	if (!isfinite(v))
		return error_set(err, ERR_USAGE, "'%.60s' is no finite number", text);
	*ret = v;
	return 0;
}
