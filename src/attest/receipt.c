/* SPDX-License-Identifier: Apache-2.0 */
/* The statement about a run: made and checked. See receipt.h. */
#include "attest/receipt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attest/envelope.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

/* Of the report as they are. */
static const char *const copied[] = {"contract", "contract_digest", "enforced", "exit", "outputs",
	"programs", "rootfs", "status"};

static json_t *get(const json_t *o, const char *name)
{
	return json_object_get(o, name);
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(get(o, name));

	return s ? s : "";
}

/* The codes alone: what else a reason says may name something of the host. */
static json_t *codes_of(const json_t *reasons)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(reasons); i++)
		json_add(list, json_str(text_of(json_array_get(reasons, i), "reason")));
	return list;
}

json_t *receipt_statement(const json_t *report)
{
	json_t *o = json_object(), *verify = json_object();
	autofree char *contract = json_text(get(report, "contract"));
	const json_t *tape = get(get(report, "tape"), "digest");

	json_put(o, "format", json_str(RECEIPT_FORMAT));
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		json_put(o, copied[i], json_incref(get(report, copied[i])));
	json_put(o, "contract", json_str(contract));
	json_put(o, "not_enforced", codes_of(get(report, "not_enforced")));
	json_put(o, "assumptions", codes_of(get(report, "assumptions")));
	json_put(o, "tape", tape ? json_incref((json_t *)(uintptr_t)tape) : json_null());
	json_put(verify, "runs", json_incref(get(get(report, "verify"), "runs")));
	json_put(verify, "identical", json_incref(get(get(report, "verify"), "identical")));
	json_put(o, "verify", verify);
	return o;
}

static bool is_digest(const json_t *value)
{
	char digest[DIGEST_TEXT];
	const char *text = json_string_value(value);

	return json_is_null(value) ||
	       (text && str_has_prefix(text, "sha256:") && cas_digest_find(text, digest));
}

static bool check_lists(const json_t *s, struct verdict *v)
{
	static const struct statement_member program[] = {
		{"path", JSON_STRING, true}, {"sha256", JSON_STRING, true}, {0}};
	static const char *const lists[] = {"not_enforced", "assumptions"};
	const json_t *programs = get(s, "programs");

	for (size_t i = 0; i < json_array_size(programs); i++) {
		const json_t *one = json_array_get(programs, i);

		if (!statement_check(one, "a program", program, v))
			return false;
		if (!is_digest(get(one, "sha256"))) {
			verdict_add(v, VERDICT_MALFORMED, "'sha256' of a program is no digest");
			return false;
		}
	}
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (size_t i = 0; i < json_array_size(get(s, lists[l])); i++)
			if (!json_is_string(json_array_get(get(s, lists[l]), i))) {
				verdict_add(v, VERDICT_MALFORMED, "'%s' holds more than codes",
					lists[l]);
				return false;
			}
	return true;
}

static bool check_digests(const json_t *s, struct verdict *v)
{
	static const struct statement_member outputs[] = {{"decisions", JSON_STRING, true},
		{"stderr", JSON_STRING, true}, {"stdout", JSON_STRING, true},
		{"tree", JSON_STRING, true}, {0}};

	if (!statement_check(get(s, "outputs"), "'outputs'", outputs, v))
		return false;
	for (int i = 0; outputs[i].name; i++)
		if (!is_digest(get(get(s, "outputs"), outputs[i].name))) {
			verdict_add(v, VERDICT_MALFORMED, "'%s' of the outputs is no digest",
				outputs[i].name);
			return false;
		}
	if (is_digest(get(s, "tape")) && is_digest(get(s, "contract_digest")) &&
		is_digest(get(get(s, "rootfs"), "digest")))
		return true;
	verdict_add(v, VERDICT_MALFORMED, "a digest that is none");
	return false;
}

/* How it ended, and nothing else: a code or a signal, and whether memory ran out. */
static bool check_members(const json_t *s, struct verdict *v)
{
	static const struct statement_member code[] = {
		{"code", JSON_INTEGER, true}, {"oom", JSON_TRUE, false}, {0}};
	static const struct statement_member signal[] = {
		{"oom", JSON_TRUE, false}, {"signal", JSON_INTEGER, false}, {0}};
	static const struct statement_member verify[] = {
		{"identical", JSON_TRUE, true}, {"runs", JSON_INTEGER, false}, {0}};
	const json_t *end = get(s, "exit");

	return statement_check(end, "'exit'", get(end, "signal") ? signal : code, v) &&
	       statement_check(get(s, "verify"), "'verify'", verify, v);
}

/* The status that a program ends with by itself, or -1: it did not start, or was killed by us. */
static json_int_t own_status(const json_t *end)
{
	json_int_t signal = json_integer_value(get(end, "signal"));

	if (get(end, "signal"))
		return signal == 9 ? -1 : 128 + signal;
	return json_is_integer(get(end, "code")) ? json_integer_value(get(end, "code")) : -1;
}

static void check_truth(const json_t *s, struct verdict *v)
{
	json_int_t status = json_integer_value(get(s, "status")), own = own_status(get(s, "exit"));
	bool enforced = json_is_true(get(s, "enforced")), ran_twice, differs;

	ran_twice = json_integer_value(get(get(s, "verify"), "runs")) == 2;
	differs = json_is_false(get(get(s, "verify"), "identical"));
	if (status < 0 || status > 255)
		verdict_add(v, VERDICT_CONTRADICTION, "no program exits with that status");
	if (enforced && json_array_size(get(s, "not_enforced")) > 0)
		verdict_add(v, VERDICT_CONTRADICTION, "enforced, and reasons why it was not");
	if (enforced && status == 121 && own != 121)
		verdict_add(v, VERDICT_CONTRADICTION, "enforced, and the status is 121");
	if (ran_twice == json_is_null(get(get(s, "verify"), "identical")))
		verdict_add(
			v, VERDICT_CONTRADICTION, "compared, and not run twice, or the other way");
	/* Only a worse end comes before a difference. */
	if (differs && status < 122)
		verdict_add(
			v, VERDICT_CONTRADICTION, "two runs differed, and the status is not 122");
	if (own >= 0 && status != own && (status < 121 || status > 125))
		verdict_add(
			v, VERDICT_CONTRADICTION, "the program's end is not that of the status");
}

static void check_contract(const json_t *s, struct verdict *v)
{
	const char *text = text_of(s, "contract");
	auto_json json_t *contract = receipt_contract(s);
	autofree char *same = contract ? json_text(contract) : NULL;
	char digest[DIGEST_TEXT];

	if (!same || strcmp(same, text) != 0 || !json_is_object(contract))
		verdict_add(v, VERDICT_MALFORMED, "the contract is no canonical JSON object");
	digest_of(text, strlen(text), digest);
	if (strcmp(text_of(s, "contract_digest"), digest) != 0)
		verdict_add(v, VERDICT_CONTRACT_DIGEST_WRONG, "it says %s, and is %s",
			text_of(s, "contract_digest"), digest);
}

json_t *receipt_contract(const json_t *s)
{
	const char *text = text_of(s, "contract");
	json_t *contract = NULL;

	return json_read(text, strlen(text), ENVELOPE_MAX, &contract, NULL) < 0 ? NULL : contract;
}

bool receipt_check(const json_t *s, struct verdict *v)
{
	static const struct statement_member rows[] = {{"assumptions", JSON_ARRAY, false},
		{"contract", JSON_STRING, false}, {"contract_digest", JSON_STRING, false},
		{"enforced", JSON_TRUE, false}, {"exit", JSON_OBJECT, false},
		{"format", JSON_STRING, false}, {"not_enforced", JSON_ARRAY, false},
		{"outputs", JSON_OBJECT, false}, {"programs", JSON_ARRAY, false},
		{"rootfs", JSON_OBJECT, false}, {"status", JSON_INTEGER, false},
		{"tape", JSON_STRING, true}, {"verify", JSON_OBJECT, false}, {0}};

	if (!statement_check(s, "the statement", rows, v) || !check_lists(s, v) ||
		!check_digests(s, v))
		return false;
	if (!check_members(s, v))
		return false;
	check_contract(s, v);
	check_truth(s, v);
	return true;
}

/* What the guest may have written itself is not on this host, and need not be. */
static bool is_private(const json_t *contract, const char *path)
{
	const char *cwd = text_of(get(contract, "cwd"), "path");

	/* No run's own directory holds the host's programs: who says so wants them unchecked. */
	return path_is_in(path, "/tmp") ||
	       (cwd[0] == '/' && !path_is_in("/usr", cwd) && path_is_in(path, cwd));
}

static void check_program(const json_t *contract, const json_t *program, struct verdict *v)
{
	const char *root = text_of(get(contract, "rootfs"), "path");
	const char *path = text_of(program, "path"), *said = text_of(program, "sha256");
	autofree char *host = NULL, *tidy = NULL;
	char digest[DIGEST_TEXT];
	struct error err = {0};
	autoclose int fd = -1;

	/* An image's digest stands for its programs. */
	if (path[0] != '/' || !said[0] ||
		strcmp(text_of(get(contract, "rootfs"), "kind"), "image") == 0) {
		verdict_unchecked(v, path, said);
		return;
	}
	tidy = path_tidy(path);
	host = root[0] ? str_format("%s%s", root, tidy) : mem_strdup(tidy);
	fd = fd_open_file(host);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		if (is_private(contract, tidy))
			verdict_unchecked(v, path, said);
		else
			verdict_add(v, VERDICT_OBJECT_ABSENT, "program %s", path);
		return;
	}
	if (fd < 0) {
		verdict_add(v, VERDICT_OBJECT_UNREADABLE, "program %s: %s", path,
			errno == ENXIO ? "no regular file" : strerror(errno));
		return;
	}
	if (digest_of_fd(fd, digest, NULL, &err) < 0)
		verdict_add(v, VERDICT_OBJECT_UNREADABLE, "program %s: %s", path, err.msg);
	else if (strcmp(digest, said) == 0)
		verdict_checked(v, path, digest);
	else if (is_private(contract, tidy))
		verdict_unchecked(v, path, said);
	else
		verdict_add(
			v, VERDICT_PROGRAM_DIFFERS, "%s is %s here, was %s", path, digest, said);
}

static void check_object(
	struct cas *store, const char *what, const json_t *value, struct verdict *v)
{
	const char *digest = json_string_value(value);
	struct error err = {0};

	if (!digest)
		return;
	switch (store ? cas_verify(store, digest, NULL, &err) : CAS_ABSENT) {
	case CAS_INTACT:
		verdict_checked(v, what, digest);
		break;
	case CAS_TAMPERED:
		verdict_add(v, VERDICT_OBJECT_TAMPERED, "%s: %s", what, err.msg);
		break;
	case CAS_UNREADABLE:
		verdict_add(v, VERDICT_OBJECT_UNREADABLE, "%s: %s", what, err.msg);
		break;
	case CAS_ABSENT:
	case CAS_STATES:
		verdict_unchecked(v, what, digest);
		break;
	}
}

void receipt_check_objects(const json_t *s, struct cas *store, struct verdict *v)
{
	static const char *const outputs[] = {"stdout", "stderr", "tree"};

	auto_json json_t *contract = receipt_contract(s);

	for (size_t i = 0; i < json_array_size(get(s, "programs")); i++)
		check_program(contract, json_array_get(get(s, "programs"), i), v);
	for (size_t i = 0; i < ARRAY_LEN(outputs); i++)
		check_object(store, outputs[i], get(get(s, "outputs"), outputs[i]), v);
	check_object(store, "tape", get(s, "tape"), v);
}

void receipt_compare(const json_t *s, const json_t *report, struct verdict *v)
{
	static const char *const members[] = {
		"contract_digest", "enforced", "exit", "outputs", "programs", "rootfs", "status"};
	auto_json json_t *again = receipt_statement(report);

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		autofree char *was = NULL, *is = NULL;

		if (json_equal(get(s, members[i]), get(again, members[i])))
			continue;
		was = json_text(get(s, members[i]));
		is = json_text(get(again, members[i]));
		verdict_add(v, VERDICT_RECOMPUTE_DIFFERS, "'%s' was %.300s, is %.300s", members[i],
			was, is);
	}
}
