/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses outside a run may reach: see network.h. */
#include "run/network.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"

static const char allow[] = "allow=";
enum { NAME_LONGEST = 253, RULES_MAX = 256, DNS_PORT = 53 };

struct rule {
	char name[NAME_LONGEST + 1];
	uint32_t port;
	bool is_address;
	struct endpoint at; /* when is_address */
};

static bool is_name(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_";

	return *s && *s != '-' && strspn(s, letters) == strlen(s);
}

static bool parse_host(struct rule *r, const char *host, size_t len)
{
	bool has_brackets = len > 2 && host[0] == '[' && host[len - 1] == ']';

	if (has_brackets) {
		host++;
		len -= 2;
	}
	if (len == 0 || len > NAME_LONGEST)
		return false;
	memcpy(r->name, host, len);
	r->name[len] = '\0';
	r->at.port = r->port;
	r->at.family = has_brackets ? 6 : 4;
	r->is_address = inet_pton(has_brackets ? AF_INET6 : AF_INET, r->name, r->at.ip) == 1;
	return r->is_address || (!has_brackets && is_name(r->name));
}

/* One of the list; *text moves behind it. False: it is none. */
static bool next_rule(const char **text, struct rule *ret)
{
	size_t len = strcspn(*text, ",");
	autofree char *one = mem_strndup(*text, len);
	char *colon = strrchr(one, ':');
	struct error ignored;
	uint64_t port = 0;

	*text += len + ((*text)[len] == ',');
	*ret = (struct rule){0};
	if (!colon || num_parse_u64(colon + 1, UINT16_MAX, &port, &ignored) < 0 || port < 1)
		return false;
	ret->port = (uint32_t)port;
	return parse_host(ret, one, (size_t)(colon - one));
}

int network_check(const char *text, struct error *err)
{
	const char *p = text;
	struct rule rule;
	int count = 0;

	if (strcmp(text, "none") == 0 || strcmp(text, "host") == 0)
		return 0;
	if (!str_has_prefix(text, allow))
		return error_set(err, ERR_USAGE,
			"--network '%.64s' is not none, host or allow=HOST:PORT,...", text);
	for (p += sizeof(allow) - 1; *p || count == 0; count++) {
		const char *from = p;

		if (count == RULES_MAX)
			return error_set(
				err, ERR_LIMIT, "--network allows at most %d addresses", RULES_MAX);
		if (!next_rule(&p, &rule))
			return error_set(err, ERR_USAGE,
				"--network: '%.*s' is not HOST:PORT (a name, 192.0.2.1 or "
				"[2001:db8::1], and a port from 1 to 65535)",
				(int)strcspn(from, ","), from);
	}
	return 0;
}

static bool has_address(const char *name, const struct endpoint *to)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				.ai_family = to->family == 4 ? AF_INET : AF_INET6},
			*list = NULL;
	bool found = false;

	if (getaddrinfo(name, NULL, &hints, &list) != 0)
		return false;
	for (struct addrinfo *a = list; a && !found; a = a->ai_next) {
		struct endpoint e;

		found = endpoint_from(&e, a->ai_addr, a->ai_addrlen) == 0 &&
			memcmp(e.ip, to->ip, sizeof(e.ip)) == 0;
	}
	freeaddrinfo(list);
	return found;
}

/* Another name's server may say 127.0.0.1, and would open what listens on this host alone. */
static bool is_of_host(const char *name)
{
	size_t len = strlen(name), tail = strlen(".localhost");

	return strcasecmp(name, "localhost") == 0 ||
	       (len > tail && strcasecmp(name + len - tail, ".localhost") == 0);
}

static bool is_name_server(const struct endpoint *to)
{
	static const unsigned char ip[4] = {10, 0, 2, 3};

	return to->family == 4 && to->port == DNS_PORT && memcmp(to->ip, ip, sizeof(ip)) == 0;
}

bool network_allows(const char *text, const struct endpoint *to)
{
	const char *p = text;
	struct rule rule;

	if (strcmp(text, "host") == 0)
		return true;
	if (!str_has_prefix(text, allow))
		return false;
	for (p += sizeof(allow) - 1; *p;) {
		if (!next_rule(&p, &rule))
			return false;
		if (rule.is_address ? endpoint_equal(&rule.at, to) : is_name_server(to))
			return true;
		if (!rule.is_address && rule.port == to->port &&
			(!endpoint_is_loopback(to) || is_of_host(rule.name)) &&
			has_address(rule.name, to))
			return true;
	}
	return false;
}

void network_real(const struct endpoint *to, struct endpoint *ret)
{
	FILE *f = is_name_server(to) ? fopen("/etc/resolv.conf", "re") : NULL;
	char line[512], name[65];

	*ret = *to;
	while (f && fgets(line, sizeof(line), f)) {
		struct endpoint e = {.port = DNS_PORT};

		if (sscanf(line, "nameserver %64s", name) != 1)
			continue;
		e.family = strchr(name, ':') ? 6 : 4;
		if (inet_pton(e.family == 6 ? AF_INET6 : AF_INET, name, e.ip) != 1)
			continue;
		*ret = e;
		break;
	}
	if (f)
		fclose(f);
}
