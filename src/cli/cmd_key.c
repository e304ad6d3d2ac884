/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass key: the key that receipts are signed with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attest/keyring.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/evidence.h"
#include "cli/session.h"
#include "cli/store.h"

struct values {
	const char *passphrase_file;
	bool passphrase, json;
};

static const struct cli_option making[] = {
	{"passphrase", CLI_FLAG, NULL, "ask for a passphrase to encrypt the key with",
		offsetof(struct values, passphrase)},
	{"passphrase-file", CLI_TEXT, "FILE", "the passphrase is the first line of this file",
		offsetof(struct values, passphrase_file)},
	{0},
};
static const struct cli_option none[] = {{0}};

static void print_key(const struct key_public *p, const struct key_public *old, bool json)
{
	char id[KEY_ID_SIZE], spki[DIGEST_TEXT];

	key_id(p, id);
	key_spki_digest(p, spki);
	if (json) {
		json_t *o = json_object();

		json_put(o, "keyid", json_str(id));
		json_put(o, "spki_digest", json_str(spki));
		json_put(o, "public_key", jwk_of(p));
		if (old) {
			char old_id[KEY_ID_SIZE];

			key_id(old, old_id);
			json_put(o, "replaced", json_str(old_id));
		}
		cli_print_json(o);
		return;
	}
	printf("%s %s\n", id, spki);
}

/* The passphrase that was asked for, or NULL for none. */
static int passphrase_of(const struct values *v, char **ret, struct error *err)
{
	return v->passphrase || v->passphrase_file
		       ? cli_new_passphrase(v->passphrase_file, ret, err)
		       : 0;
}

static void forget(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
}

static int record(const char *type, const struct key_public *p, struct error *err)
{
	char id[KEY_ID_SIZE], spki[DIGEST_TEXT];
	json_t *details = json_object();

	key_id(p, id);
	key_spki_digest(p, spki);
	json_put(details, "spki_digest", json_str(spki));
	return cli_audit_record(type, "signing_key", id, details, err);
}

static int run_new(void *values, char **argv)
{
	const struct values *v = values;
	char *passphrase CLEANUP(forget) = NULL;
	autofree char *dir = NULL;
	struct key_public p;
	struct error err;

	if (!cli_words_are(argv, 0, 0, "key new"))
		return 2;
	if (cli_keys_dir(&dir, &err) < 0 || passphrase_of(v, &passphrase, &err) < 0 ||
		keyring_make(dir, passphrase, &p, &err) < 0 || record("key.new", &p, &err) < 0)
		return cli_fail(&err, 2);
	print_key(&p, NULL, v->json);
	return 0;
}

static int run_rotate(void *values, char **argv)
{
	const struct values *v = values;
	char *passphrase CLEANUP(forget) = NULL;
	autofree char *dir = NULL;
	struct key_public p, old;
	struct error err;

	if (!cli_words_are(argv, 0, 0, "key rotate"))
		return 2;
	if (cli_keys_dir(&dir, &err) < 0 || passphrase_of(v, &passphrase, &err) < 0 ||
		keyring_rotate(dir, passphrase, &p, &old, &err) < 0 ||
		record("key.rotate", &p, &err) < 0)
		return cli_fail(&err, 2);
	print_key(&p, &old, v->json);
	return 0;
}

/* The key that would sign: SANDGLASS_KEY's, whose public half only it has itself. */
static int find_public(struct key_public *ret, struct error *err)
{
	const char *path = getenv("SANDGLASS_KEY");
	autofree char *dir = NULL;
	auto_key struct key *k = NULL;

	if (path && path[0]) {
		if (cli_signing_key(&k, err) < 0)
			return -1;
		key_public(k, ret);
		return 1;
	}
	return cli_keys_dir(&dir, err) < 0 ? -1 : keyring_public(dir, ret, err);
}

static int run_show(void *values, char **argv)
{
	const struct values *v = values;
	struct key_public p;
	struct error err;
	int found;

	if (!cli_words_are(argv, 0, 0, "key show"))
		return 2;
	found = find_public(&p, &err);
	if (found < 0)
		return cli_fail(&err, 2);
	if (found == 0) {
		cli_say("there is no signing key; 'sandglass key new' makes one");
		return 1;
	}
	print_key(&p, NULL, v->json);
	return 0;
}

static int run_jwks(void *values, char **argv)
{
	const char *path = getenv("SANDGLASS_KEY");
	autofree char *dir = NULL;
	json_t *set = NULL;
	struct error err;

	(void)values;
	if (!cli_words_are(argv, 0, 0, "key jwks"))
		return 2;
	if (path && path[0]) {
		struct key_public p;

		if (find_public(&p, &err) < 0)
			return cli_fail(&err, 2);
		set = jwks_of(&p);
	} else if (cli_keys_dir(&dir, &err) < 0 || keyring_jwks(dir, &set, &err) < 0) {
		return cli_fail(&err, 2);
	}
	cli_print_json(set);
	return 0;
}

const struct cli_command command_key_new = {
	.name = "key new",
	.arguments = "",
	.summary = "Make the signing key",
	.details = "Prints the key's two names: the thumbprint of RFC 7638 and the digest of its "
		   "SubjectPublicKeyInfo.\nThere is one key; 'key rotate' replaces it.\n",
	.options = making,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_new,
	.usage_status = 2,
};

const struct cli_command command_key_show = {
	.name = "key show",
	.arguments = "",
	.summary = "Print the names of the signing key",
	.details = "The status is 1 when there is none. With SANDGLASS_KEY it is that file's.\n",
	.options = none,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_show,
	.usage_status = 2,
};

const struct cli_command command_key_jwks = {
	.name = "key jwks",
	.arguments = "",
	.summary = "Print the public keys, past ones too, as a JSON Web Key Set",
	.details = "What 'receipt verify --jwks' takes. The key in use is the first.\n",
	.options = none,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_jwks,
	.usage_status = 2,
};

const struct cli_command command_key_rotate = {
	.name = "key rotate",
	.arguments = "",
	.summary = "Replace the signing key by a new one",
	.details = "The old private key is removed and can sign no more; its public half stays in "
		   "the set.\n",
	.options = making,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_rotate,
	.usage_status = 2,
};
