/* SPDX-License-Identifier: Apache-2.0 */
/* What a manifest declares against what the code says that it has: see pack.h. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "pack/pack.h"

static const char *const lists[] = {"object_types", "relation_types", "behaviors", "tools"};

/* An entry of a list is a name, or an object that has one. */
static const char *name_of(const json_t *item)
{
	return json_string_value(json_is_object(item) ? json_object_get(item, "name") : item);
}

static bool has_name(const json_t *list, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *found = name_of(item);

		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

static void check_list(
	const json_t *declared, const json_t *present, const char *what, struct faults *faults)
{
	const json_t *item;
	size_t i;

	json_array_foreach(declared, i,
		item) if (name_of(item) && !has_name(present, name_of(item))) faults_add(faults,
		"surface.%s declares '%s', which the code does not have", what, name_of(item));
	json_array_foreach(present, i,
		item) if (name_of(item) && !has_name(declared, name_of(item))) faults_add(faults,
		"the code has '%s', which surface.%s does not declare", name_of(item), what);
}

static const char *text(const json_t *object, const char *key)
{
	const char *v = json_string_value(json_object_get(object, key));

	return v ? v : "";
}

static const json_t *find_capability(const json_t *list, const json_t *like)
{
	const json_t *item;
	size_t i;

	json_array_foreach(
		list, i, item) if (strcmp(text(item, "provider"), text(like, "provider")) == 0 &&
				   strcmp(text(item, "capability"), text(like, "capability")) ==
					   0) return item;
	return NULL;
}

static void check_capabilities(const json_t *declared, const json_t *present, struct faults *faults)
{
	static const char *const same[] = {"risk_class", "action_class"};
	const json_t *item;
	size_t i;

	json_array_foreach(declared, i, item)
	{
		const json_t *other = find_capability(present, item);

		if (!other)
			faults_add(faults,
				"surface.capabilities declares '%s' of '%s', which the code does "
				"not have",
				text(item, "capability"), text(item, "provider"));
		for (size_t j = 0; other && j < ARRAY_LEN(same); j++)
			if (strcmp(text(item, same[j]), text(other, same[j])) != 0)
				faults_add(faults,
					"the capability '%s' of '%s' has the %s '%s' in the "
					"manifest and '%s' in "
					"the code",
					text(item, "capability"), text(item, "provider"), same[j],
					text(item, same[j]), text(other, same[j]));
	}
	json_array_foreach(present, i, item) if (!find_capability(declared, item)) faults_add(
		faults,
		"the code has the capability '%s' of '%s', which the manifest does not declare",
		text(item, "capability"), text(item, "provider"));
}

void pack_surface_check(const json_t *manifest, const json_t *described, struct faults *faults)
{
	const json_t *pack = json_object_get(manifest, "pack");
	const json_t *surface = json_object_get(manifest, "surface");
	static const char *const same[] = {"name", "version"};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (strcmp(text(pack, same[i]), text(described, same[i])) != 0)
			faults_add(faults, "the %s is '%s' in the manifest and '%s' in the code",
				same[i], text(pack, same[i]), text(described, same[i]));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		check_list(json_object_get(surface, lists[i]), json_object_get(described, lists[i]),
			lists[i], faults);
	if (strcmp(text(surface, "settings_schema"), text(described, "settings_schema")) != 0)
		faults_add(faults, "settings_schema is '%s' in the manifest and '%s' in the code",
			text(surface, "settings_schema"), text(described, "settings_schema"));
	check_capabilities(json_object_get(surface, "capabilities"),
		json_object_get(described, "capabilities"), faults);
}

/* Together, with a point between, they are the actor of events. */
enum { PACK_NAME_MAX = 64, ENTRY_NAME_MAX = 128 };

void pack_described_check(const json_t *described, struct faults *faults)
{
	const json_t *list, *item, *on;
	size_t i, j;

	if (!json_is_object(described)) {
		faults_add(faults, "the code does not describe itself with an object");
		return;
	}
	if (!text(described, "name")[0] || !text(described, "version")[0])
		faults_add(faults, "the code tells no name and version of itself");
	if (strlen(text(described, "name")) > PACK_NAME_MAX)
		faults_add(faults, "the code's name has more than %d bytes", PACK_NAME_MAX);
	for (i = 0; i < ARRAY_LEN(lists); i++) {
		list = json_object_get(described, lists[i]);
		if (list && !json_is_array(list))
			faults_add(faults, "the code's %s are no list", lists[i]);
		json_array_foreach(list, j, item)
		{
			if (!name_of(item))
				faults_add(faults, "the code has an entry without a name in %s",
					lists[i]);
			else if (strlen(name_of(item)) > ENTRY_NAME_MAX)
				faults_add(faults,
					"the code has a name of more than %d bytes in %s",
					ENTRY_NAME_MAX, lists[i]);
		}
	}
	json_array_foreach(json_object_get(described, "behaviors"), i, item)
	{
		list = json_object_get(item, "on");
		if (!json_is_object(item) || !json_is_array(list)) {
			faults_add(faults, "the code has a behavior that does not say 'on' what");
			continue;
		}
		json_array_foreach(list, j, on) if (!json_is_string(on)) faults_add(
			faults, "the code has a behavior 'on' something that is no string");
	}
}
