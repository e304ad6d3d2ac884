/* SPDX-License-Identifier: Apache-2.0 */
/* Ed25519 keys on OpenSSL: see key.h. */
#include "crypto/key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

enum { FILE_MAX = 16 * 1024, ITERATIONS = 600000 };

struct key {
	EVP_PKEY *pkey;
};

static void free_pkey(EVP_PKEY **p)
{
	EVP_PKEY_free(*p);
}

static void free_context(EVP_MD_CTX **c)
{
	EVP_MD_CTX_free(*c);
}

static void free_bio(BIO **b)
{
	BIO_free(*b);
}

/* The library's own words for what failed last. */
static int library_error(struct error *err, const char *what)
{
	unsigned long code = ERR_get_error();
	const char *why = ERR_reason_error_string(code);

	ERR_clear_error();
	return error_set(err, ERR_SYSTEM, "%s: %s", what, why ? why : "no reason given");
}

void key_id(const struct key_public *p, char ret[KEY_ID_SIZE])
{
	char x[BASE64URL_SIZE(KEY_PUBLIC_SIZE)];
	autofree char *text = NULL;
	unsigned char raw[DIGEST_SIZE];

	base64url_format(p->x, sizeof(p->x), x);
	text = str_format("{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"%s\"}", x);
	digest_raw(text, strlen(text), raw);
	base64url_format(raw, sizeof(raw), ret);
}

void key_spki_digest(const struct key_public *p, char ret[DIGEST_TEXT])
{
	/* SEQUENCE { SEQUENCE { OID 1.3.101.112 } BIT STRING of 32 bytes }: RFC 8410. */
	unsigned char der[44] = {
		0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

	memcpy(der + 12, p->x, sizeof(p->x));
	digest_of(der, sizeof(der), ret);
}

/*
 * Under a key of small order one signature is good for every text. These are the y of all eight
 * such points, with the two that have a second encoding past the prime; the sign does not count.
 */
static bool is_small_order(const struct key_public *p)
{
	static const unsigned char ys[][KEY_PUBLIC_SIZE] = {
		{0x00},
		{0x01},
		{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef,
			0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38,
			0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
		{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10,
			0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7,
			0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
		{0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	};
	unsigned char y[KEY_PUBLIC_SIZE];

	memcpy(y, p->x, sizeof(y));
	y[KEY_PUBLIC_SIZE - 1] &= 0x7f;
	for (size_t i = 0; i < ARRAY_LEN(ys); i++)
		if (memcmp(y, ys[i], sizeof(y)) == 0)
			return true;
	return false;
}

bool key_verifies(const struct key_public *p, const void *data, size_t len,
	const unsigned char signature[KEY_SIGNATURE_SIZE])
{
	EVP_PKEY *pkey CLEANUP(free_pkey) =
		EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, p->x, sizeof(p->x));
	EVP_MD_CTX *c CLEANUP(free_context) = EVP_MD_CTX_new();
	bool good = !is_small_order(p) && pkey && c &&
		    EVP_DigestVerifyInit(c, NULL, NULL, NULL, pkey) == 1 &&
		    EVP_DigestVerify(c, signature, KEY_SIGNATURE_SIZE, data, len) == 1;

	ERR_clear_error();
	return good;
}

void key_free(struct key *k)
{
	if (k)
		EVP_PKEY_free(k->pkey);
	free(k);
}

void key_cleanup(struct key **k)
{
	key_free(*k);
	*k = NULL;
}

/* Takes pkey. */
static struct key *wrap(EVP_PKEY **pkey)
{
	struct key *k = mem_alloc(sizeof(*k));

	k->pkey = take_ptr(*pkey);
	return k;
}

int key_new(struct key **ret, struct error *err)
{
	EVP_PKEY *pkey CLEANUP(free_pkey) = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

	if (!pkey)
		return library_error(err, "make a key");
	*ret = wrap(&pkey);
	return 0;
}

void key_public(const struct key *k, struct key_public *ret)
{
	size_t len = sizeof(ret->x);

	if (EVP_PKEY_get_raw_public_key(k->pkey, ret->x, &len) != 1 || len != sizeof(ret->x))
		abort(); /* key_new and key_read let no other kind in */
}

int key_sign(const struct key *k, const void *data, size_t len,
	unsigned char ret[KEY_SIGNATURE_SIZE], struct error *err)
{
	EVP_MD_CTX *c CLEANUP(free_context) = EVP_MD_CTX_new();
	size_t size = KEY_SIGNATURE_SIZE;

	if (!c || EVP_DigestSignInit(c, NULL, NULL, NULL, k->pkey) != 1 ||
		EVP_DigestSign(c, ret, &size, data, len) != 1 || size != KEY_SIGNATURE_SIZE)
		return library_error(err, "sign");
	return 0;
}

/* PKCS#8; with a passphrase PBES2 of AES-256-CBC and PBKDF2. */
static int encode(const struct key *k, const char *passphrase, BIO *bio, struct error *err)
{
	X509_ALGOR *algorithm = NULL;
	PKCS8_PRIV_KEY_INFO *plain = NULL;
	X509_SIG *sealed = NULL;
	int ok;

	if (!passphrase) {
		ok = PEM_write_bio_PKCS8PrivateKey(bio, k->pkey, NULL, NULL, 0, NULL, NULL);
		return ok == 1 ? 0 : library_error(err, "write a key");
	}
	algorithm =
		PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), ITERATIONS, NULL, 0, NULL, NID_hmacWithSHA256);
	plain = EVP_PKEY2PKCS8(k->pkey);
	/* It takes the algorithm when it succeeds. */
	sealed = algorithm && plain
			 ? PKCS8_set0_pbe(passphrase, (int)strlen(passphrase), plain, algorithm)
			 : NULL;
	if (!sealed)
		X509_ALGOR_free(algorithm);
	ok = sealed && PEM_write_bio_PKCS8(bio, sealed) == 1;
	PKCS8_PRIV_KEY_INFO_free(plain);
	X509_SIG_free(sealed);
	return ok ? 0 : library_error(err, "encrypt a key");
}

int key_write(
	const struct key *k, int dir, const char *name, const char *passphrase, struct error *err)
{
	BIO *bio CLEANUP(free_bio) = BIO_new(BIO_s_secmem());
	autoclose int fd = -1;
	char *text;
	long len;

	if (passphrase && strlen(passphrase) > KEY_PASSPHRASE_MAX)
		return error_set(
			err, ERR_LIMIT, "a passphrase of more than %d bytes", KEY_PASSPHRASE_MAX);
	if (!bio)
		return library_error(err, "write a key");
	if (encode(k, passphrase, bio, err) < 0)
		return -1;
	if (PEM_write_bio_PUBKEY(bio, k->pkey) != 1)
		return library_error(err, "write a key");
	len = BIO_get_mem_data(bio, &text);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "make '%s'", name);
	if (fchmod(fd, 0600) < 0 || fd_write_all(fd, text, (size_t)len, err) < 0 || fsync(fd) < 0 ||
		fsync(dir) < 0) {
		error_fill_sys(err, "write '%s'", name);
		unlinkat(dir, name, 0);
		return -1;
	}
	return 0;
}

int key_file_open(int dir, const char *name, int *ret_fd, struct error *err)
{
	autoclose int fd =
		openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERR_USAGE, "key file '%s' is a symbolic link", name);
	if (fd < 0)
		return error_sys(err, "open the key file '%s'", name);
	if (fstat(fd, &st) < 0)
		return error_sys(err, "stat '%s'", name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_USAGE, "key file '%s' is no regular file", name);
	if (st.st_uid != geteuid())
		return error_set(err, ERR_USAGE, "key file '%s' belongs to user %u, not to you",
			name, st.st_uid);
	if (st.st_mode & 077)
		return error_set(err, ERR_USAGE,
			"key file '%s' is open to others (mode %04o): chmod 600 it", name,
			st.st_mode & 07777);
	*ret_fd = take_fd(fd);
	return 0;
}

struct asking {
	key_ask *ask;
	void *context;
	struct error *err;
	bool was_asked, failed;
};

static int give_passphrase(char *buf, int size, int writing, void *u)
{
	struct asking *a = u;
	autofree char *text = NULL;
	size_t len;

	(void)writing;
	a->was_asked = true;
	if (!a->ask) {
		error_fill(
			a->err, ERR_USAGE, "the key has a passphrase and there is nobody to ask");
		a->failed = true;
		return -1;
	}
	if (a->ask(a->context, &text, a->err) < 0) {
		a->failed = true;
		return -1;
	}
	len = strlen(text);
	if (len > (size_t)size)
		len = (size_t)size;
	memcpy(buf, text, len);
	explicit_bzero(text, strlen(text));
	return (int)len;
}

/* The file's text, of which nothing stays in memory. */
struct secret {
	char *text;
	size_t len;
};

static void secret_finish(struct secret *s)
{
	if (s->text)
		explicit_bzero(s->text, s->len);
	free(s->text);
}

static int read_secret(int dir, const char *name, struct secret *ret, struct error *err)
{
	autoclose int fd = -1;

	if (key_file_open(dir, name, &fd, err) < 0)
		return -1;
	return fd_slurp(fd, FILE_MAX, &ret->text, &ret->len, err) < 0
		       ? error_wrap(err, "key file '%s'", name)
		       : 0;
}

int key_read(
	int dir, const char *name, key_ask *ask, void *context, struct key **ret, struct error *err)
{
	struct secret CLEANUP(secret_finish) file = {0};
	struct asking asking = {.ask = ask, .context = context, .err = err};
	BIO *bio CLEANUP(free_bio) = NULL;
	EVP_PKEY *pkey CLEANUP(free_pkey) = NULL;

	if (read_secret(dir, name, &file, err) < 0)
		return -1;
	bio = BIO_new_mem_buf(file.text, (int)file.len);
	pkey = bio ? PEM_read_bio_PrivateKey(bio, NULL, give_passphrase, &asking) : NULL;
	ERR_clear_error();
	if (asking.failed)
		return error_wrap(err, "key file '%s'", name);
	if (!pkey && asking.was_asked)
		return error_set(err, ERR_USAGE, "key file '%s': wrong passphrase", name);
	if (!pkey || EVP_PKEY_get_base_id(pkey) != EVP_PKEY_ED25519)
		return error_set(
			err, ERR_FORMAT, "key file '%s' holds no Ed25519 private key in PEM", name);
	*ret = wrap(&pkey);
	return 0;
}

int key_read_public(int dir, const char *name, struct key_public *ret, struct error *err)
{
	struct secret CLEANUP(secret_finish) file = {0};
	BIO *bio CLEANUP(free_bio) = NULL;
	EVP_PKEY *pkey CLEANUP(free_pkey) = NULL;
	const char *block;
	size_t len = sizeof(ret->x);

	if (read_secret(dir, name, &file, err) < 0)
		return -1;
	/* Past the private block, whose passphrase the library would ask for itself. */
	block = strstr(file.text, "-----BEGIN PUBLIC KEY-----");
	bio = block ? BIO_new_mem_buf(block, -1) : NULL;
	pkey = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
	ERR_clear_error();
	if (!pkey || EVP_PKEY_get_base_id(pkey) != EVP_PKEY_ED25519 ||
		EVP_PKEY_get_raw_public_key(pkey, ret->x, &len) != 1)
		return error_set(
			err, ERR_FORMAT, "key file '%s' holds no Ed25519 public key", name);
	return 0;
}
