/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp profile of our containers: see profile.h. */
#include "oci/profile.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "wire/sysnr.h"

enum verdict { ALLOW, TIGHT, STOP, REFUSED_ENOSYS, REFUSED_EPERM };
#define VERDICT_ALLOW ALLOW
#define VERDICT_TIGHT TIGHT
#define VERDICT_STOP STOP
#define VERDICT_ENOSYS REFUSED_ENOSYS
#define VERDICT_EPERM REFUSED_EPERM

static const struct {
	const char *name;
	enum verdict verdict;
} rows[] = {
#define SYSCALL(name, verdict, enter, leave, note) {#name, VERDICT_##verdict},
#include "wire/syscalls.def"
#undef SYSCALL
};

/* What no guest may call and the supervisor does: it looks into guests. */
static const char *const supervisors[] = {"kcmp", "process_vm_readv", "process_vm_writev"};

/* Calls of these arrive at the guest's own filters, which refuse them one by one: a profile without
 * them would kill whoever tries. */
#if defined(__x86_64__)
static const char *const architectures[] = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"};
#else
static const char *const architectures[] = {"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"};
#endif

/* CLONE_NEW* but for the time namespace, whose bit is a signal's here: no clone makes one. */
enum { CLONE_NAMESPACES = 0x7e020000 };

static json_t *rule(json_t *names)
{
	json_t *o = json_object();

	json_put(o, "names", names);
	json_put(o, "action", json_str("SCMP_ACT_ALLOW"));
	return o;
}

static json_t *clone_rule(void)
{
	json_t *names = json_array(), *args = json_array(), *arg = json_object(), *o;

	json_add(names, json_str("clone"));
	o = rule(names);
	json_put(arg, "index", json_u64(0));
	json_put(arg, "op", json_str("SCMP_CMP_MASKED_EQ"));
	json_put(arg, "value", json_u64(CLONE_NAMESPACES));
	json_put(arg, "valueTwo", json_u64(0));
	json_add(args, arg);
	json_put(o, "args", args);
	return o;
}

json_t *profile_json(void)
{
	json_t *o = json_object(), *names = json_array(), *list = json_array(),
	       *archs = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].verdict <= STOP && strcmp(rows[i].name, "clone") != 0)
			json_add(names, json_str(rows[i].name));
	for (size_t i = 0; i < ARRAY_LEN(supervisors); i++)
		json_add(names, json_str(supervisors[i]));
	json_add(list, rule(names));
	json_add(list, clone_rule());
	for (size_t i = 0; i < ARRAY_LEN(architectures); i++)
		json_add(archs, json_str(architectures[i]));
	json_put(o, "architectures", archs);
	json_put(o, "defaultAction", json_str("SCMP_ACT_ERRNO"));
	json_put(o, "defaultErrnoRet", json_u64(ENOSYS));
	json_put(o, "syscalls", list);
	return o;
}
