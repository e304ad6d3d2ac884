/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image's JSON and references from anybody: parsing never reads or writes where it must not, and
 * what is accepted as a reference is accepted again in its own long form.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "image/config.h"
#include "image/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void reference(const char *text)
{
	auto_image_ref struct image_ref r = {0}, again = {0};
	autofree char *name = NULL, *twice = NULL;
	struct error err;

	if (image_ref_parse(text, &r, &err) < 0 || !r.name)
		return;
	name = image_ref_name(&r);
	/* "docker.io/library/docker.io/x" loses its registry once more: that is another name. */
	if (str_has_prefix(r.name, "docker.io/") || str_has_prefix(r.name, "index.docker.io/"))
		return;
	if (image_ref_parse(name, &again, &err) < 0)
		abort();
	twice = image_ref_name(&again);
	if (strcmp(name, twice) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = mem_strndup((const char *)data, size);
	auto_image_manifest struct image_manifest m = {0};
	auto_image_config struct image_config c = {0};
	autofree char *name = NULL;
	struct image_blob chosen;
	char chain[DIGEST_TEXT];
	struct error err;

	reference(text);
	if (image_manifest_parse((const char *)data, size, &m, &err) == 0 &&
		m.layer_count > IMAGE_LAYERS_MAX)
		abort();
	if (image_config_parse((const char *)data, size, &c, &err) == 0)
		image_chain(&c, chain);
	if (image_index_is((const char *)data, size))
		(void)!image_index_choose((const char *)data, size, &chosen, &name, &err);
	return 0;
}
