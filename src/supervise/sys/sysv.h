/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System V IPC. The objects are the kernel's own, in the sandbox's ipc namespace, so that ids,
 * contents, owners and limits are its affair; waiting and the times that an object carries are
 * ours.
 */
#ifndef SUPERVISE_SYS_SYSV_H
#define SUPERVISE_SYS_SYSV_H

#include <stdint.h>

#include "supervise/engine/task.h"

enum sysv_kind { SYSV_MSG, SYSV_SEM, SYSV_SHM };

/* What an object's times are, in seconds of CLOCK_REALTIME; 0 is never. */
struct sysv_times {
	int64_t first;	/* last msgsnd, semop, shmat */
	int64_t second; /* last msgrcv, shmdt */
	int64_t change;
	uint64_t attached; /* shm: shm_nattch when it was looked at last */
};

/* Borrowed until the next call; made, as created now, when the object was not known. */
struct sysv_times *sysv_times_of(enum sysv_kind kind, int id);
/* The object is gone. */
void sysv_forget(enum sysv_kind kind, int id);
int64_t sysv_now(void);
/* A process was born, died or runs a new program: detaches that no call made are noticed. */
void sysv_processes_changed(void);
/* A task is gone, and its SEM_UNDO done. */
void sysv_task_gone(void);

#endif
