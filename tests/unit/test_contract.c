/* SPDX-License-Identifier: Apache-2.0 */
/* Options become the contract that docs/format/contract describes, and its bytes come back whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chacha20.h"
#include "base/mem.h"
#include "run/contract.h"
#include "run/json.h"
#include "run/switches.h"

static unsigned said;

static void count_line(const char *line)
{
	(void)line;
	said++;
}

static int build(struct run_options *o, const char *cwd, const char *home, bool tty,
	struct contract *c, struct error *err)
{
	static char word[] = "true", *argv[] = {word, NULL};
	struct contract_host h = {
		.cwd = mem_strdup(cwd), .home = home ? mem_strdup(home) : NULL, .tty = tty};
	int r;

	if (!o->argv)
		o->argv = argv;
	r = contract_build(o, &h, c, count_line, err);
	contract_host_finish(&h);
	return r;
}

static const char *env_of(const struct contract *c, const char *name)
{
	size_t n = strlen(name);

	for (char **p = c->env; *p; p++)
		if (strncmp(*p, name, n) == 0 && (*p)[n] == '=')
			return *p + n + 1;
	return NULL;
}

static void defaults_are_the_pinned_ones(void **state)
{
	auto_contract struct contract c = {0};
	struct run_options o = {0};
	struct error err = {0};

	(void)state;
	setenv("SECRET", "1", 1);
	assert_int_equal(build(&o, "/srv/project", NULL, false, &c, &err), 0);
	assert_string_equal(c.workdir, "/srv/project");
	assert_string_equal(c.copy_dir, "/srv/project");
	assert_string_equal(c.workflow_id, "sandbox");
	assert_true(c.epoch_ns == 1700000000000000000ull);
	assert_string_equal(env_of(&c, "SOURCE_DATE_EPOCH"), "1700000000");
	assert_string_equal(env_of(&c, "TZ"), "UTC");
	assert_string_equal(env_of(&c, "HOME"), "/tmp");
	assert_null(env_of(&c, "TERM"));
	assert_null(env_of(&c, "SECRET"));
	assert_true(c.deterministic);
	assert_int_equal(c.stdin_kind, CONTRACT_STDIN_EMPTY);
}

static void options_change_what_they_name(void **state)
{
	auto_contract struct contract c = {0};
	const char *env[] = {"TZ=CET", "A=1", "A=2=3"};
	struct run_options o = {.env = {env, 3},
		.epoch = "1000",
		.memory = 64 << 20,
		.pids = 7,
		.workflow_id = "w",
		.clock_step_ns = 5,
		.no_determinism = true,
		.workdir = "sub/dir"};
	struct error err = {0};

	(void)state;
	assert_int_equal(build(&o, "/srv/project", NULL, true, &c, &err), 0);
	assert_string_equal(env_of(&c, "TZ"), "CET");
	assert_string_equal(env_of(&c, "A"), "2=3");
	assert_string_equal(env_of(&c, "SOURCE_DATE_EPOCH"), "1000");
	assert_string_equal(env_of(&c, "TERM"), "xterm-256color");
	assert_true(c.epoch_ns == 1000000000000ull);
	assert_true(c.memory_bytes == 64 << 20 && c.rlimits[2].soft == 64 << 20 &&
		    c.rlimits[2].hard == 64 << 20);
	assert_int_equal(c.pids, 7);
	assert_true(c.clock_step_ns == 5);
	assert_false(c.deterministic);
	assert_string_equal(c.workdir, "/srv/project/sub/dir");
}

/* docs/format/contract, "Entropy": the vectors of that page. */
static void entropy_is_that_of_the_page(void **state)
{
	static const unsigned char key[32] = {0xe1, 0xcf, 0x86, 0x48, 0x6d, 0x40, 0xf7, 0x7f, 0x44,
		0x4f, 0x83, 0x6f, 0x65, 0x54, 0x42, 0x74, 0x30, 0x71, 0xe8, 0xde, 0x44, 0xbb, 0xce,
		0xee, 0x4d, 0xd6, 0x14, 0x58, 0xb4, 0x4b, 0xd8, 0x65};
	static const unsigned char first[16] = {0xbe, 0x12, 0x1e, 0x6d, 0x46, 0x2d, 0x87, 0x6c,
		0x28, 0x13, 0x94, 0x13, 0xd3, 0xc8, 0xc5, 0x19},
				   other[16] = {0x1c, 0x94, 0x95, 0x8b, 0x23, 0x58, 0xa9, 0xae,
					   0x03, 0xf7, 0xe1, 0x53, 0xa2, 0x17, 0x45, 0xbe};
	auto_contract struct contract c = {0};
	struct run_options o = {0};
	struct error err = {0};
	unsigned char out[16];

	(void)state;
	assert_int_equal(build(&o, "/srv/project", NULL, false, &c, &err), 0);
	assert_memory_equal(c.entropy_key, key, sizeof(key));
	chacha20_stream(c.entropy_key, 0, 0, out, sizeof(out));
	assert_memory_equal(out, first, sizeof(out));
	chacha20_stream(c.entropy_key, 1, 2ull << 32, out, sizeof(out));
	assert_memory_equal(out, other, sizeof(out));
}

static void switches_are_sorted_and_say_what_is_wrong(void **state)
{
	static const char *const wrong[] = {"", "1", "1:2", "1:2:", "0:1:2", "1:0:2", "1:2:0",
		"1:2+:3", "1:2+65536:3", "1:2:3,", "1:2:3,1:2+4:5", "1:2:3 ", "-1:2:3"};
	auto_contract struct contract c = {0};
	struct run_options o = {.switches = "3:7+40:1,1:2:3,3:2+0:1", .sched_seed = 9};
	struct error err = {0};
	autofree char *text = NULL;

	(void)state;
	assert_int_equal(build(&o, "/srv/project", NULL, false, &c, &err), 0);
	assert_true(c.sched_seed == 9);
	text = switches_text(c.switches, c.switch_count);
	assert_string_equal(text, "1:2:3,3:2+0:1,3:7+40:1");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		auto_contract struct contract other = {0};

		o.switches = wrong[i];
		assert_int_equal(build(&o, "/srv/project", NULL, false, &other, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		assert_non_null(strstr(err.msg, "--switches"));
	}
}

static void a_directory_over_the_view_is_not_copied(void **state)
{
	static const char *const rows[] = {
		"/", "/usr", "/etc", "/proc", "/proc/1", "/dev/shm", "/tmp", "/lib"};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_contract struct contract c = {0};
		auto_contract struct contract without = {0};
		struct run_options o = {0}, elsewhere = {.workdir = "/tmp"};

		assert_int_equal(build(&o, rows[i], NULL, false, &c, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		assert_int_equal(build(&elsewhere, rows[i], NULL, false, &without, &err), 0);
		assert_null(without.copy_dir);
	}
}

static void a_whole_home_is_warned_of(void **state)
{
	struct error err = {0};
	static const struct {
		const char *cwd;
		unsigned lines;
	} rows[] = {{"/home/u", 1}, {"/home", 1}, {"/home/u/project", 0}, {"/home/us", 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_contract struct contract c = {0};
		struct run_options o = {0};

		said = 0;
		assert_int_equal(build(&o, rows[i].cwd, "/home/u", false, &c, &err), 0);
		assert_int_equal(said, rows[i].lines);
	}
}

static void wrong_options_are_refused(void **state)
{
	const char *words[][1] = {
		{"NOVALUE"}, {"=x"}, {"/no/such/file"}, {"/usr:relative"}, {":/x"}, {"/usr:/"}};
	struct run_options rows[] = {{.env = {words[0], 1}}, {.env = {words[1], 1}},
		{.bind_ro = {words[2], 1}}, {.bind = {words[3], 1}}, {.bind = {words[4], 1}},
		{.bind_ro = {words[5], 1}}, {.network = "all"}, {.epoch = "tomorrow"},
		{.rootfs = "/no/such"}, {.rootfs = "/etc/passwd"}, {.rootfs = "/"},
		{.memory = 1024}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_contract struct contract c = {0};
		struct error err = {0};

		assert_int_equal(build(&rows[i], "/srv/project", NULL, false, &c, &err), -1);
		assert_true(err.code == ERR_USAGE || err.code == ERR_MISSING);
		assert_true(err.msg[0] != '\0');
	}
}

static void too_much_is_over_the_limits(void **state)
{
	static char word[CONTRACT_STRING_MAX + 1];
	char **many = mem_array(CONTRACT_ARGS_MAX + 2, sizeof(*many));
	char *one[] = {word, NULL};
	struct run_options rows[] = {{.argv = one}, {.argv = many}};

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	for (size_t i = 0; i <= CONTRACT_ARGS_MAX; i++)
		many[i] = word + sizeof(word) - 2;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_contract struct contract c = {0};
		struct error err = {0};

		assert_int_equal(build(&rows[i], "/srv/project", NULL, false, &c, &err), -1);
		assert_int_equal(err.code, ERR_LIMIT);
	}
	free(many);
}

static void the_json_names_the_contract(void **state)
{
	auto_contract struct contract c = {0}, same = {0}, other = {0};
	struct run_options o = {0}, p = {.workflow_id = "other"};
	struct inputs in = {0};
	struct error err = {0};
	char a[DIGEST_TEXT], b[DIGEST_TEXT], d[DIGEST_TEXT];

	(void)state;
	assert_int_equal(build(&o, "/srv/project", NULL, false, &c, &err), 0);
	assert_int_equal(build(&o, "/srv/project", NULL, false, &same, &err), 0);
	assert_int_equal(build(&p, "/srv/project", NULL, false, &other, &err), 0);
	auto_json json_t *ja = contract_json(&c, &in), *jb = contract_json(&same, &in),
			 *jd = contract_json(&other, &in);
	json_digest(ja, a);
	json_digest(jb, b);
	json_digest(jd, d);
	assert_string_equal(a, b);
	assert_string_not_equal(a, d);
}

static void its_bytes_come_back_whole(void **state)
{
	const char *binds[] = {"/usr:/x", "/etc:/y"};
	struct run_options o = {
		.bind_ro = {binds, 2}, .epoch = "5", .sched_seed = 3, .switches = "2:3+4:5"};
	auto_contract struct contract c = {0}, back = {0};
	auto_conditions struct conditions k = {.cpu = 1, .delay_seed = 9, .trace = true},
					  kback = {0};
	auto_bytes struct bytes bytes = {0}, again = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(build(&o, "/srv/project", NULL, false, &c, &err), 0);
	contract_encode(&bytes, &c, &k);
	assert_int_equal(contract_decode(bytes.data, bytes.len, &back, &kback, &err), 0);
	contract_encode(&again, &back, &kback);
	assert_int_equal(bytes.len, again.len);
	assert_memory_equal(bytes.data, again.data, bytes.len);
	for (size_t cut = 0; cut < bytes.len; cut += 7) {
		struct contract none = {0};
		struct conditions knone = {0};

		assert_int_equal(contract_decode(bytes.data, cut, &none, &knone, &err), -1);
	}
}

/* Else the fuzzer of the frame would begin with bytes that are refused at once. */
static void the_fuzzers_seed_is_a_whole_frame(void **state)
{
	auto_contract struct contract c = {0};
	auto_conditions struct conditions k = {0};
	unsigned char data[4096];
	struct error err = {0};
	char path[4096];
	ssize_t n;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/contract/whole",
		getenv("SANDGLASS_SOURCE"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, data, sizeof(data));
	close(fd);
	assert_true(n > 0);
	assert_int_equal(contract_decode(data, (size_t)n, &c, &k, &err), 0);
	assert_true(c.switch_count > 0 && c.bind_count > 0 && k.filter_len > 0);
	assert_true(k.timers_after_ns > 0);
}

static void a_cpu_is_told_by_its_model(void **state)
{
	static const char base[] =
		"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
		"model name\t: A\nstepping\t: 4\ncpu MHz\t\t: 2900.1\nflags\t\t: fpu vme\n\n"
		"processor\t: 1\n";
	char a[80], b[80], text[512];

	(void)state;
	inputs_cpu_from(base, a);
	assert_memory_equal(a, "host:sha256:", 12);
	snprintf(text, sizeof(text), "%s", base);
	memcpy(strstr(text, "2900.1"), "3100.7", 6);
	memcpy(strstr(text, "name\t: A"), "name\t: B", 8);
	inputs_cpu_from(text, b);
	assert_string_equal(a, b);
	memcpy(strstr(text, "model\t\t: 85"), "model\t\t: 86", 11);
	inputs_cpu_from(text, b);
	assert_string_not_equal(a, b);
	inputs_cpu_from("vendor_id\t: X\nflags\t\t: fpu cpuid_fault vme\n", b);
	assert_string_equal(b, "");
	inputs_cpu_from("vendor_id\t: X\nflags\t\t: fpu cpuid_faulty vme\n", b);
	assert_string_not_equal(b, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_the_pinned_ones),
		cmocka_unit_test(options_change_what_they_name),
		cmocka_unit_test(entropy_is_that_of_the_page),
		cmocka_unit_test(switches_are_sorted_and_say_what_is_wrong),
		cmocka_unit_test(a_directory_over_the_view_is_not_copied),
		cmocka_unit_test(a_whole_home_is_warned_of),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(too_much_is_over_the_limits),
		cmocka_unit_test(the_json_names_the_contract),
		cmocka_unit_test(its_bytes_come_back_whole),
		cmocka_unit_test(the_fuzzers_seed_is_a_whole_frame),
		cmocka_unit_test(a_cpu_is_told_by_its_model),
	};

	return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
