/* SPDX-License-Identifier: Apache-2.0 */
/* Signed files for the commands: see signed.h. */
#include "cli/signed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attest/keyring.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cli/store.h"
#include "run/place.h"

enum { JWKS_MAX = 1 << 20 };

static int read_jwks(const char *path, json_t **ret, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	autofree char *text = NULL;
	struct key_public p;
	size_t len;

	if (fd < 0)
		return error_sys(err, "--jwks '%.300s'", path);
	/* The search is for nobody: it looks at every key, and says what is wrong with the set. */
	if (fd_slurp(fd, JWKS_MAX, &text, &len, err) < 0 ||
		json_read(text, len, JWKS_MAX, ret, err) < 0 || jwks_find(*ret, "", &p, err) < 0)
		return error_wrap(err, "--jwks '%.300s'", path);
	return 0;
}

/* The bytes of the file, or what is the matter with it; NULL in *ret then. */
static int read_file(
	const char *path, char **ret, size_t *ret_len, struct verdict *v, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct error why = {0};
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return error_sys(err, "open '%.300s'", path);
	if (fd < 0 || fstat(fd, &st) < 0) {
		verdict_add(v, VERDICT_RECEIPT_UNREADABLE, "%s", strerror(errno));
		return 0;
	}
	if (!S_ISREG(st.st_mode)) {
		verdict_add(v, VERDICT_RECEIPT_UNREADABLE, "it is no regular file");
		return 0;
	}
	if (st.st_size > ENVELOPE_MAX) {
		verdict_add(v, VERDICT_MALFORMED, "%lld bytes; the limit is %d",
			(long long)st.st_size, ENVELOPE_MAX);
		return 0;
	}
	if (fd_slurp(fd, ENVELOPE_MAX, ret, ret_len, &why) < 0)
		verdict_add(v, VERDICT_RECEIPT_UNREADABLE, "%s", why.msg);
	return 0;
}

int cli_signed_read(const char *path, const struct cli_anchor *anchor, struct envelope *ret,
	struct verdict *v, struct error *err)
{
	auto_json json_t *jwks = NULL;
	autofree char *text = NULL;
	struct envelope_anchor expected = {.keyid = anchor->keyid};
	size_t len = 0;

	if (anchor->jwks && read_jwks(anchor->jwks, &jwks, err) < 0)
		return -1;
	expected.jwks = jwks;
	if (read_file(path, &text, &len, v, err) < 0)
		return -1;
	if (text)
		envelope_open(text, len, &expected, ret, v);
	return 0;
}

static int fill(int fd, const void *arg, struct error *err)
{
	const char *text = arg;

	return fd_write_all(fd, text, strlen(text), err);
}

int cli_signed_write(
	const char *path, const struct key *k, const json_t *statement, struct error *err)
{
	autofree char *text = NULL;

	if (envelope_seal(k, statement, &text, err) < 0)
		return -1;
	if (strcmp(path, "-") == 0)
		return fill(STDOUT_FILENO, text, err);
	return place_write(path, fill, text, err) < 0 ? error_wrap(err, "'%.300s'", path) : 0;
}

int cli_verdict_tell(const struct verdict *v, const char *path, json_t *more, bool json)
{
	auto_json json_t *owned = more;
	json_t *o, *reason;
	size_t i;

	if (json) {
		o = json_object();
		json_put(o, "verdict", json_str(verdict_word(v->worst)));
		json_put(o, "reasons", json_incref(v->reasons));
		json_put(o, "checked", json_incref(v->checked));
		json_put(o, "unchecked", json_incref(v->unchecked));
		if (owned)
			json_object_update(o, owned);
		cli_print_json(o);
		return verdict_status(v->worst);
	}
	json_array_foreach(v->reasons, i, reason)
		printf("%s: %s: %s: %s\n", path, json_string_value(json_object_get(reason, "code")),
			json_string_value(json_object_get(reason, "meaning")),
			json_string_value(json_object_get(reason, "detail")));
	printf("%s: %s\n", path, verdict_word(v->worst));
	return verdict_status(v->worst);
}
