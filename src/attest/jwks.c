/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Web Keys of Ed25519 (RFC 8037): see keyring.h. */
#include <string.h>

#include "attest/keyring.h"

json_t *jwk_of(const struct key_public *p)
{
	char x[BASE64URL_SIZE(KEY_PUBLIC_SIZE)], id[KEY_ID_SIZE];
	json_t *o = json_object();

	base64url_format(p->x, sizeof(p->x), x);
	key_id(p, id);
	json_put(o, "alg", json_str("EdDSA"));
	json_put(o, "crv", json_str("Ed25519"));
	json_put(o, "kid", json_str(id));
	json_put(o, "kty", json_str("OKP"));
	json_put(o, "use", json_str("sig"));
	json_put(o, "x", json_str(x));
	return o;
}

json_t *jwks_of(const struct key_public *p)
{
	json_t *set = json_object(), *keys = json_array();

	json_add(keys, jwk_of(p));
	json_put(set, "keys", keys);
	return set;
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

int jwks_find(const json_t *set, const char *id, struct key_public *ret, struct error *err)
{
	const json_t *keys = json_object_get(set, "keys");
	int found = 0;

	if (!json_is_array(keys))
		return error_set(err, ERR_FORMAT, "not a JSON Web Key Set: no array 'keys'");
	for (size_t i = 0; i < json_array_size(keys); i++) {
		const json_t *key = json_array_get(keys, i);
		struct key_public p;
		char own[KEY_ID_SIZE];

		if (!json_is_object(key))
			return error_set(err, ERR_FORMAT, "key %zu of the set is no object", i);
		if (strcmp(text_of(key, "kty"), "OKP") != 0 ||
			strcmp(text_of(key, "crv"), "Ed25519") != 0)
			continue;
		if (!base64url_parse(text_of(key, "x"), p.x, sizeof(p.x)))
			return error_set(err, ERR_FORMAT,
				"'x' of key %zu of the set is not 32 bytes of base64url", i);
		key_id(&p, own);
		if (json_object_get(key, "kid") && strcmp(text_of(key, "kid"), own) != 0)
			return error_set(err, ERR_FORMAT,
				"key %zu of the set says another kid than its thumbprint '%s'", i,
				own);
		if (strcmp(own, id) == 0) {
			*ret = p;
			found = 1;
		}
	}
	return found;
}
