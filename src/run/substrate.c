/* SPDX-License-Identifier: Apache-2.0 */
/* What a run stands on: see substrate.h. */
#include "run/substrate.h"

#include <string.h>

#include "base/attr.h"

void substrate_close(struct substrate *s)
{
	run_image_finish(&s->native);
	oci_image_finish(&s->found);
	oci_finish(&s->runtime);
}

const struct image *substrate_image(const struct substrate *s)
{
	return s->native.store ? &s->native.image : s->found.ref ? &s->found.image : NULL;
}

const struct oci_image *substrate_given(const struct substrate *s)
{
	return s->found.ref ? &s->found : NULL;
}

const struct oci_spec *substrate_runtime(const struct substrate *s)
{
	return s->found.ref ? &s->spec : NULL;
}

bool substrate_is_tag(const struct substrate *s)
{
	return s->native.store ? !s->native.is_pinned : s->found.ref && !s->found.is_pinned;
}

static int open_runtime(
	struct substrate *s, const char *name, const struct run_options *o, struct error *err)
{
	if (oci_open(name, &s->runtime, err) < 0)
		return -1;
	if (oci_image_find(&s->runtime, o->image, &s->found, err) < 0) {
		oci_finish(&s->runtime);
		return -1;
	}
	s->spec.runtime = &s->runtime;
	s->spec.image = s->found.ref;
	if (s->found.is_pinned || o->allow_tag)
		return 0;
	return error_set(err, ERR_USAGE,
		"--image '%.120s' has no digest, so it may be another image tomorrow; now it is: "
		"--image %.200s%s",
		s->found.ref, s->found.pinned, o->tape ? "" : " (--allow-tag takes it as it is)");
}

/* Ours first: it needs no daemon. Whoever has the image is the one. */
static int open_auto(
	struct substrate *s, const struct run_options *o, run_say *say, struct error *err)
{
	struct error why;

	if (run_image_open(o, say, &s->native, err) == 0)
		return 0;
	if (err->code != ERR_MISSING)
		return -1;
	for (size_t i = 0; i < dialect_count; i++)
		if (open_runtime(s, dialects[i].name, o, &why) == 0)
			return 0;
	return -1;
}

int substrate_open(
	struct substrate *ret, const struct run_options *o, run_say *say, struct error *err)
{
	const char *name = o->runtime ? o->runtime : "native";

	ret->spec.interrupt = -1;
	/* A replay finds the image of its tape by itself. */
	if (strcmp(name, "native") == 0)
		return o->image && !o->tape ? run_image_open(o, say, &ret->native, err) : 0;
	if (!o->image)
		return error_set(
			err, ERR_USAGE, "--runtime %.64s runs images: name one with --image", name);
	if (o->rootfs)
		return error_set(err, ERR_USAGE, "--image and --rootfs are two roots: give one");
	if (strcmp(name, "auto") == 0 && !o->tape)
		return open_auto(ret, o, say, err);
	if (!dialect_find(name))
		return error_set(err, ERR_USAGE,
			"--runtime '%.64s' is none of auto, native, docker, podman and nerdctl",
			name);
	return open_runtime(ret, name, o, err);
}
