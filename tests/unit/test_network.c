/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses a run may reach, and the records of connections on a tape. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "run/network.h"
#include "tape/net.h"
#include "wire/endpoint.h"

static struct endpoint at(const char *ip, uint32_t port)
{
	struct endpoint e = {.family = strchr(ip, ':') ? 6 : 4, .port = port};

	assert_int_equal(inet_pton(e.family == 6 ? AF_INET6 : AF_INET, ip, e.ip), 1);
	return e;
}

static bool allows(const char *text, const char *ip, uint32_t port)
{
	struct endpoint to = at(ip, port);

	return network_allows(text, &to);
}

static void a_policy_is_none_host_or_a_list(void **state)
{
	static const char *const good[] = {"none", "host", "allow=localhost:80", "allow=[::1]:443",
		"allow=192.0.2.1:1,example.org:65535"};
	static const char *const bad[] = {"", "all", "allow", "allow=", "allow=localhost",
		"allow=localhost:", "allow=localhost:0", "allow=localhost:65536", "allow=:80",
		"allow=::1:80", "allow=[localhost]:80", "allow=a b:80", "allow=-a:80",
		"allow=a:80,,b:80", "allow=a:80;b:80", "allow=a:8o"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct error err = {0};

		assert_int_equal(network_check(good[i], &err), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct error err = {0};

		assert_int_equal(network_check(bad[i], &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
	}
}

static void only_what_is_listed_is_allowed(void **state)
{
	static const char list[] = "allow=192.0.2.1:80,[2001:db8::1]:443";

	(void)state;
	assert_true(allows("host", "192.0.2.9", 1));
	assert_false(allows("none", "127.0.0.1", 80));
	assert_true(allows(list, "192.0.2.1", 80));
	assert_true(allows(list, "2001:db8::1", 443));
	assert_false(allows(list, "192.0.2.1", 81));
	assert_false(allows(list, "192.0.2.2", 80));
	assert_false(allows(list, "2001:db8::1", 80));
	/* Addresses need no name server. */
	assert_false(allows(list, "10.0.2.3", 53));
	assert_true(allows("allow=localhost:80", "10.0.2.3", 53));
	assert_true(allows("allow=localhost:80", "127.0.0.1", 80));
	assert_false(allows("allow=localhost:80", "127.0.0.1", 8080));
	assert_false(allows("allow=localhost:80", "10.0.2.3", 54));
	/* Whoever answers for another name does not open what listens on this host alone. */
	assert_false(allows("allow=127.1:80", "127.0.0.1", 80));
	assert_false(allows("allow=0:80", "127.0.0.1", 80));
	assert_true(allows("allow=127.0.0.1:80", "127.0.0.1", 80));
}

static void an_address_is_one_whatever_its_socket(void **state)
{
	struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_storage back;
	struct endpoint a, b = at("127.0.0.1", 80);
	char text[ENDPOINT_TEXT];

	(void)state;
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
	assert_int_equal(endpoint_from(&a, (struct sockaddr *)&mapped, sizeof(mapped)), 0);
	assert_true(endpoint_equal(&a, &b) && endpoint_is_loopback(&a));
	assert_int_equal(endpoint_from(&a, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_true(endpoint_equal(&a, &b));
	assert_int_equal(endpoint_from(&a, (struct sockaddr *)&any, 8), -1);
	any.sin_family = AF_UNIX;
	assert_int_equal(endpoint_from(&a, (struct sockaddr *)&any, sizeof(any)), -1);
	b = at("2001:db8::2", 443);
	assert_int_equal(endpoint_from(&a, (struct sockaddr *)&back, endpoint_to(&b, &back)), 0);
	assert_true(endpoint_equal(&a, &b) && !endpoint_is_loopback(&a));
	endpoint_text(&a, text);
	assert_string_equal(text, "[2001:db8::2]:443");
}

static struct tape_record record(enum tape_kind kind, const void *data, size_t len)
{
	return (struct tape_record){.kind = (uint16_t)kind, .payload = data, .len = len};
}

static void records_come_back_as_they_were(void **state)
{
	struct tape_connect c = {.stream = 7,
				    .datagrams = true,
				    .family = 6,
				    .port = 53,
				    .error = 111,
				    .request = 9},
			    c2;
	struct tape_received r = {.stream = 7, .request = 10}, r2;
	struct tape_sent s = {.stream = 7, .flags = TAPE_NET_END, .request = 11}, s2;
	unsigned char out[TAPE_SENT_HEAD + 3];
	struct tape_record rec;

	(void)state;
	memset(c.ip, 0xab, sizeof(c.ip));
	tape_connect_encode(out, &c);
	rec = record(TAPE_CONNECT, out, TAPE_CONNECT_SIZE);
	assert_int_equal(tape_connect_decode(&rec, &c2), 0);
	assert_true(c2.stream == 7 && c2.datagrams && c2.family == 6 && c2.port == 53);
	assert_true(c2.error == 111 && c2.request == 9 && memcmp(c.ip, c2.ip, 16) == 0);
	tape_received_encode(out, &r);
	memcpy(out + TAPE_RECEIVED_HEAD, "abc", 3);
	rec = record(TAPE_RECEIVED, out, TAPE_RECEIVED_HEAD + 3);
	assert_int_equal(tape_received_decode(&rec, &r2), 0);
	assert_true(r2.len == 3 && memcmp(r2.data, "abc", 3) == 0 && r2.request == 10);
	tape_sent_encode(out, &s);
	rec = record(TAPE_SENT, out, TAPE_SENT_HEAD);
	assert_int_equal(tape_sent_decode(&rec, &s2), 0);
	assert_true(s2.flags == TAPE_NET_END && s2.request == 11 && s2.bytes == 0);
}

/* Each of them cut, of another kind, or with a field that makes no sense. */
static void other_records_are_refused(void **state)
{
	unsigned char out[TAPE_SENT_HEAD + 1] = {0};
	struct tape_connect c = {.stream = 1, .family = 4}, got;
	struct tape_received r = {.stream = 1, .flags = TAPE_NET_END}, received;
	struct tape_sent s = {.stream = 1, .bytes = 2}, sent;
	struct tape_record rec;

	(void)state;
	for (size_t len = 0; len < TAPE_CONNECT_SIZE; len++) {
		tape_connect_encode(out, &c);
		rec = record(TAPE_CONNECT, out, len);
		assert_int_equal(tape_connect_decode(&rec, &got), -1);
	}
	static const struct tape_connect wrong[] = {{.stream = 0, .family = 4},
		{.stream = 1, .family = 5}, {.stream = 1, .family = 4, .port = 65536},
		{.stream = 1, .family = 4, .error = 5000}};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		tape_connect_encode(out, &wrong[i]);
		rec = record(TAPE_CONNECT, out, TAPE_CONNECT_SIZE);
		assert_int_equal(tape_connect_decode(&rec, &got), -1);
	}
	tape_received_encode(out, &r);
	rec = record(TAPE_RECEIVED, out, TAPE_RECEIVED_HEAD + 1); /* an end with bytes */
	assert_int_equal(tape_received_decode(&rec, &received), -1);
	rec = record(TAPE_SENT, out, TAPE_RECEIVED_HEAD);
	assert_int_equal(tape_received_decode(&rec, &received), -1);
	tape_sent_encode(out, &s);
	rec = record(TAPE_SENT, out, TAPE_SENT_HEAD + 1); /* of two bytes, one */
	assert_int_equal(tape_sent_decode(&rec, &sent), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_is_none_host_or_a_list),
		cmocka_unit_test(only_what_is_listed_is_allowed),
		cmocka_unit_test(an_address_is_one_whatever_its_socket),
		cmocka_unit_test(records_come_back_as_they_were),
		cmocka_unit_test(other_records_are_refused),
	};

	return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
