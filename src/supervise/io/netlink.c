/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest receives of a routing socket: see netlink.h.
 *
 * How it works: a message is a header, a fixed structure of its type, and attributes, some of which
 * hold attributes themselves. One table says for each type, and each attribute that nests, which
 * attributes are blanked and how many bytes of them stay.
 */
#include "supervise/io/netlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/attr.h"

enum { WITHOUT_STAMPS = 8 /* ifa_cacheinfo: its two lifetimes stay */ };
/* linux/mqueue.h: NOTIFY_COOKIE_LEN, NOTIFY_WOKENUP, NOTIFY_REMOVED */
enum { COOKIE_SIZE = 32, COOKIE_WOKEN = 1, COOKIE_REMOVED = 2 };

/* An attribute of a place: blanked from byte `keep` on, or a place itself. */
struct rule {
	uint16_t type;
	uint16_t keep;
	const struct place *inner;
};

struct place {
	uint16_t header; /* bytes before the first attribute */
	uint8_t count;
	const struct rule *rules;
};

#define PLACE(header, rules) \
	{ \
		(header), ARRAY_LEN(rules), (rules) \
	}

static const struct rule inet6_rules[] = {{IFLA_INET6_STATS, 0, NULL},
	{IFLA_INET6_CACHEINFO, 0, NULL}, {IFLA_INET6_ICMP6STATS, 0, NULL}};
static const struct place inet6 = PLACE(0, inet6_rules);
static const struct rule family_rules[] = {{AF_INET6, 0, &inet6}};
static const struct place family = PLACE(0, family_rules);
static const struct rule link_rules[] = {
	{IFLA_STATS, 0, NULL}, {IFLA_STATS64, 0, NULL}, {IFLA_AF_SPEC, 0, &family}};
/* A link that is told for IPv6 alone. */
static const struct rule link6_rules[] = {
	{IFLA_STATS, 0, NULL}, {IFLA_STATS64, 0, NULL}, {IFLA_PROTINFO, 0, &inet6}};
static const struct rule address_rules[] = {{IFA_CACHEINFO, WITHOUT_STAMPS, NULL}};
static const struct rule route_rules[] = {{RTA_CACHEINFO, 0, NULL}};
static const struct rule neighbour_rules[] = {{NDA_CACHEINFO, 0, NULL}};
/* The period in which a neighbour counts as reachable is random. */
static const struct rule period_rules[] = {
	{NDTPA_REFCNT, 0, NULL}, {NDTPA_REACHABLE_TIME, 0, NULL}};
static const struct place periods = PLACE(0, period_rules);
static const struct rule neighbours_rules[] = {
	{NDTA_CONFIG, 0, NULL}, {NDTA_STATS, 0, NULL}, {NDTA_PARMS, 0, &periods}};
static const struct rule queue_rules[] = {
	{TCA_STATS, 0, NULL}, {TCA_XSTATS, 0, NULL}, {TCA_STATS2, 0, NULL}};

static const struct place link6 = PLACE(sizeof(struct ifinfomsg), link6_rules);

static const struct kind {
	uint16_t type;
	struct place place;
} kinds[] = {
	{RTM_NEWLINK, PLACE(sizeof(struct ifinfomsg), link_rules)},
	{RTM_NEWADDR, PLACE(sizeof(struct ifaddrmsg), address_rules)},
	{RTM_NEWROUTE, PLACE(sizeof(struct rtmsg), route_rules)},
	{RTM_NEWNEIGH, PLACE(sizeof(struct ndmsg), neighbour_rules)},
	{RTM_NEWNEIGHTBL, PLACE(sizeof(struct ndtmsg), neighbours_rules)},
	{RTM_NEWQDISC, PLACE(sizeof(struct tcmsg), queue_rules)},
	/* Nothing in them changes. */
	{NLMSG_NOOP, {0}},
	{NLMSG_ERROR, {0}},
	{NLMSG_DONE, {0}},
	{RTM_NEWRULE, {0}},
	{RTM_NEWADDRLABEL, {0}},
	{RTM_NEWNETCONF, {0}},
	{RTM_NEWNSID, {0}},
	{RTM_NEWNEXTHOP, {0}},
};

static bool made;

bool netlink_made(int protocol)
{
	if (protocol != NETLINK_ROUTE)
		return false;
	made = true;
	return true;
}

bool netlink_is(const struct gfd *g)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return made && g->kind == FDKIND_SOCKET &&
	       getsockopt(g->fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_NETLINK;
}

static const struct rule *rule_of(const struct place *place, uint16_t type)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->rules[i].type == (type & NLA_TYPE_MASK))
			return &place->rules[i];
	return NULL;
}

/* The attributes of `place`, which nests no deeper than three. */
static void blank(const struct place *place, char *data, size_t len)
{
	for (size_t at = place->header; at + NLA_HDRLEN <= len;) {
		struct nlattr a;
		const struct rule *rule;
		size_t end;

		memcpy(&a, data + at, sizeof(a));
		if (a.nla_len < NLA_HDRLEN)
			return;
		end = at + a.nla_len < len ? at + a.nla_len : len;
		rule = rule_of(place, a.nla_type);
		if (rule && rule->inner)
			blank(rule->inner, data + at + NLA_HDRLEN, end - at - NLA_HDRLEN);
		else if (rule && at + NLA_HDRLEN + rule->keep < end)
			memset(data + at + NLA_HDRLEN + rule->keep, 0,
				end - at - NLA_HDRLEN - rule->keep);
		at += NLA_ALIGN((size_t)a.nla_len);
	}
}

static const struct place *place_of(const struct nlmsghdr *h, const char *body, size_t len)
{
	if (h->nlmsg_type == RTM_NEWLINK && len > 0 && body[0] == AF_INET6)
		return &link6;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].type == h->nlmsg_type)
			return &kinds[i].place;
	return NULL;
}

static size_t refuse(char *data, size_t room, const struct nlmsghdr *h)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} answer = {.h = {.nlmsg_len = sizeof(answer),
			    .nlmsg_type = NLMSG_ERROR,
			    .nlmsg_seq = h->nlmsg_seq,
			    .nlmsg_pid = h->nlmsg_pid},
		.e = {.error = -EOPNOTSUPP}};
	size_t len = room < sizeof(answer) ? room : sizeof(answer);

	memcpy(data, &answer, len);
	return len;
}

/* What mq_notify(3) gets of its socket is a cookie without a header, its last byte a verdict. */
static bool is_cookie(const char *data, size_t len)
{
	uint32_t claimed;

	if (len != COOKIE_SIZE)
		return false;
	memcpy(&claimed, data, sizeof(claimed));
	return claimed != len && (data[len - 1] == COOKIE_WOKEN || data[len - 1] == COOKIE_REMOVED);
}

size_t netlink_blank(char *data, size_t len)
{
	size_t at = 0;

	if (is_cookie(data, len))
		return len;
	while (at + sizeof(struct nlmsghdr) <= len) {
		struct nlmsghdr h;
		char *body = data + at + sizeof(h);
		const struct place *place;
		size_t end;

		memcpy(&h, data + at, sizeof(h));
		if (h.nlmsg_len < sizeof(h))
			break;
		end = at + h.nlmsg_len < len ? at + h.nlmsg_len : len;
		place = place_of(&h, body, end - at - sizeof(h));
		if (!place)
			return at + refuse(data + at, len - at, &h);
		if (place->count)
			blank(place, body, end - at - sizeof(h));
		at += NLMSG_ALIGN((size_t)h.nlmsg_len);
	}
	return len;
}
