/* SPDX-License-Identifier: Apache-2.0 */
/* What the three kinds of System V IPC share: see sysv.h. */
#include "supervise/sys/sysv.h"

#include <stdlib.h>
#include <sys/shm.h>

#include "base/mem.h"
#include "supervise/engine/clock.h"
#include "supervise/sys/waiters.h"

enum { BUCKETS = 256, NS_PER_S = 1000000000 };

struct object {
	enum sysv_kind kind;
	int id;
	struct sysv_times times;
	struct object *next;
};

static struct object *objects[BUCKETS];
static unsigned shm_count;

static struct object **bucket(int id)
{
	return &objects[(unsigned)id % BUCKETS];
}

int64_t sysv_now(void)
{
	return (int64_t)(clock_realtime() / NS_PER_S);
}

struct sysv_times *sysv_times_of(enum sysv_kind kind, int id)
{
	struct object *o = *bucket(id);

	while (o && (o->kind != kind || o->id != id))
		o = o->next;
	if (!o) {
		o = mem_alloc(sizeof(*o));
		o->kind = kind;
		o->id = id;
		o->times.change = sysv_now();
		o->next = *bucket(id);
		*bucket(id) = o;
		shm_count += kind == SYSV_SHM;
	}
	return &o->times;
}

void sysv_forget(enum sysv_kind kind, int id)
{
	for (struct object **p = bucket(id); *p; p = &(*p)->next)
		if ((*p)->kind == kind && (*p)->id == id) {
			struct object *o = *p;

			*p = o->next;
			free(o);
			shm_count -= kind == SYSV_SHM;
			return;
		}
}

/* Gone with its last user, or fewer use it than before. */
static void look(struct object *o)
{
	struct shmid_ds ds;

	if (shmctl(o->id, IPC_STAT, &ds) < 0) {
		sysv_forget(SYSV_SHM, o->id);
		return;
	}
	if (ds.shm_nattch < o->times.attached)
		o->times.second = sysv_now();
	o->times.attached = ds.shm_nattch;
}

void sysv_processes_changed(void)
{
	for (unsigned i = 0; shm_count && i < BUCKETS; i++)
		for (struct object *o = objects[i], *next; o; o = next) {
			next = o->next;
			if (o->kind == SYSV_SHM)
				look(o);
		}
}

void sysv_task_gone(void)
{
	waiters_wake_all(WAIT_SEMAPHORE);
}
