/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's picture of the guest: tasks (threads), processes (thread groups) and address
 * spaces. Ordinals count creations and never repeat; everything that is compared between two runs
 * uses them, never host state.
 */
#ifndef SUPERVISE_TASK_H
#define SUPERVISE_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervise/arch.h"
#include "supervise/engine/call.h"
#include "supervise/engine/clock.h"

/* An address space: shared by threads and by a vfork child until it execs. */
struct mm {
	int refs;
	int mem_fd;		     /* /proc/PID/mem, opened when first needed; -1 before */
	uint64_t ordinal;	     /* from 1 */
	uint64_t vdso;		     /* address of the vDSO, 0 before the first exec */
	bool patched;		     /* our stubs are in it */
	bool ready;		     /* the counter page is mapped */
	bool undumpable;	     /* PR_SET_DUMPABLE 0, as the guest sees it */
	uint32_t window;	     /* reads the counter page was armed with */
	struct hidden_sites *hidden; /* instructions that are breakpoints: hidden/hidden.h */
	uint32_t trapped;      /* reads of the time-stamp counter since the last full window */
	uint64_t window_epoch; /* sched.c: whose calls came since it was armed */
	struct mm *next;
};

enum { ITIMERS = 3 }; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */

/* sys/itimer.c */
struct itimer {
	struct timer timer;
	uint64_t interval_ns;
	bool rests; /* it came due, and goes on when its signal is taken */
};

enum { CPU_LIMITS = 2 };

struct process {
	pid_t pid;
	uint32_t ordinal; /* from 1 in order of creation */
	pid_t parent;	  /* pid of the real parent, 1 for orphans without a subreaper */
	pid_t parent_tid; /* the thread of it where waits with __WNOTHREAD find it */
	int exit_signal;  /* what its death tells its parent: SIGCHLD, or as clone(2) was told */
	bool subreaper;	  /* adopts its descendants' orphans: PR_SET_CHILD_SUBREAPER */
	int tasks;	  /* live threads */
	bool dying;	  /* the whole group is on its way out */
	bool execing;	  /* inside execve: its other threads die quietly */
	bool zombie;	  /* dead and, as far as we know, not collected by its parent */
	uint32_t tight;	  /* descriptors below it are mediated: tighten.h */
	bool own_filter;  /* the guest installed a seccomp filter of its own */
	bool leader_gone; /* the main thread left before the others */
	bool dies_with_parent; /* PR_SET_PDEATHSIG is SIGKILL, which we send ourselves */
	bool killed;	       /* SIGKILL was sent to it from inside, or by us */
	bool doomed;	       /* its parent died: to be killed at the next occasion */
	bool stop_untold;      /* stopped, and no wait of its parent has told it */
	bool continued_untold; /* the same of going on again */
	bool stopped_orphan;   /* when it stopped its group was orphaned */
	uint64_t draws;	       /* entropy draws so far */
	uint64_t start_ns;     /* CLOCK_MONOTONIC at creation */
	/* On CPU time, RLIMIT_CPU and RLIMIT_RTTIME, kept here so that the kernel does not measure
	 * the host's: policy.c */
	struct cpu_limit {
		bool is_set;
		uint64_t soft, hard;
	} cpu_limits[CPU_LIMITS];
	int pidfd;	      /* for pidfd_getfd; opened when first needed, -1 before */
	uint64_t end_ns;      /* of a zombie: CLOCK_MONOTONIC at its death */
	uint64_t children_ns; /* CPU time of the children that it waited for, and of theirs */
	struct itimer itimers[ITIMERS];
	struct ptimer *ptimers; /* sys/ptimer.c */
	int32_t ptimer_next;	/* the next one's number */
	struct death *deaths;	/* life.c: threads whose ends are told together */
	struct process *next;	/* in order of creation */
};

enum task_state {
	TASK_RUNNABLE, /* in the run queue, stopped, `resume` says how to go on */
	TASK_RUNNING,  /* the one that runs */
	TASK_PARKED,   /* at a seccomp stop of a call that would block */
	TASK_VFORK,    /* at its vfork event until the child execs or dies */
	TASK_SPINNING, /* reads memory until it changes, as the running one did: spin/spin.h */
	TASK_STOPPED,  /* job control: group-stopped, listening */
	TASK_NATIVE,   /* blocked in the kernel in a call that is not modelled: reported */
	TASK_LEFT,     /* a main thread that exited before its group */
};

/* Why a parked task sleeps. */
enum park_kind {
	PARK_TIME = 1, /* only its deadline (or a signal) ends it */
	PARK_FUTEX,    /* sys/futex.h */
	PARK_FD,       /* descriptor readiness (fdwait.h), a lock, a FIFO */
	PARK_CHILD,    /* a child: tried again when one died or stopped */
};

/* What a parked call remembers between its tries; all zero when a new call starts. */
struct park {
	enum park_kind kind;

	bool timed_out;	   /* its deadline passed */
	bool has_deadline; /* `timer.deadline_ns` was fixed by an earlier try */
	bool external;	   /* what it waits for comes from outside the sandbox */
	bool interrupted;  /* re-issued because of a signal; cleared at the next other stop */
	bool has_mask; /* `mask` decides which signals end it, and the kernel then does the call */
	uint64_t mask; /* bit sig - 1: that signal does not end it */
	uint64_t deadline_ns;
	uint64_t progress; /* for calls done in pieces: bytes so far */
	int64_t on_signal; /* the answer when a signal ends it; 0: as `restart` says */
	uint64_t key[3];   /* what it waits for, as its handler has it: a FIFO, say */
	uint32_t bits;
	uint64_t seq;	    /* order of parking */
	bool watched;	    /* fdwait.h tells when its descriptors change */
	bool unwatchable;   /* ...and could not this time */
	uint32_t fruitless; /* tries that were asked for and ended in another park */
};

/* choice.c: how a task goes on towards a forced switch. */
enum choice_way {
	CHOICE_FREE,  /* no switch is due: it runs */
	CHOICE_CALL,  /* in a call; instructions count from its end */
	CHOICE_ENTRY, /* stands before a system call instruction that is passed in one go */
	CHOICE_STEPS, /* instruction by instruction */
};

/* What a walk counts. */
enum choice_unit { CHOICE_ANY, CHOICE_ATOMIC, CHOICE_OWN };

struct choice {
	uint64_t point; /* scheduling points so far, from 1 */
	bool has_run, has_called;
	bool holds; /* stands before its call, whose handler has not run yet */
	enum choice_way way;
	enum choice_unit unit;
	bool trap_blocked;   /* SIGTRAP was blocked before this step, which opens it */
	bool is_atomic;	     /* the instruction of this step is */
	bool is_passing;     /* the call it stands in is one of the steps */
	uint64_t ip;	     /* of the next step, 0: to be looked up */
	uint32_t left, done; /* units to go, and instructions gone */
	bool is_low;	     /* preempted, and others are preferred */
	uint32_t passed;     /* times that others were preferred to it */
};

struct task {
	pid_t tid;
	uint32_t ordinal;
	struct process *proc;
	struct mm *mm;
	enum task_state state;
	struct regs regs; /* the guest's own at the last call's stop: stop_regs */
	bool has_regs;
	struct regs kernel_regs; /* what the kernel shall see instead, when `changed` */
	bool changed;		 /* call_set_nr or call_set_arg was used */
	bool at_exit;		 /* a call was injected: it stands at an exit stop (inject.h) */
	struct call call;	 /* the mediated call it stands in */
	const struct syscall_row *row;
	bool for_tracer; /* the guest's own filter hands the call to a tracer: there is none */
	bool leaving;	 /* resume to the exit stop */
	bool exiting;	 /* called exit(2): only this thread goes */
	bool reissued;	 /* its call was put back for a signal; `restart` says how */
	uint64_t reissue_ip;
	int restart;	    /* ERESTARTSYS, ERESTARTNOHAND or EINTR */
	int signal;	    /* to deliver at the next resume */
	uint64_t clear_tid; /* CLONE_CHILD_CLEARTID address */
	bool own_files;	    /* a thread whose descriptors are not its main thread's */
	uint64_t start_ns;
	uint32_t idle;		  /* weight of idle acts in epoch `idle_epoch` */
	uint64_t idle_epoch;	  /* counts the non-idle calls of all tasks */
	bool was_idle;		  /* the last call was an idle act */
	struct task *vfork_child; /* TASK_VFORK: for whom */
	bool give_way;		  /* go to the tail of the queue after this stop */
	struct choice choice;
	bool overdue;	       /* give way at the next call, before it */
	uint32_t stops;	       /* calls that stopped: sched.h */
	uint64_t budget_epoch; /* as idle_epoch, when the last budget of them was used up */
	bool turn; /* in the queue, and not answered yet: its handler runs when its turn comes,
		    * since      whoever runs before may take away what it would go on with */
	uint64_t turn_looks;		    /* signals had been looked at so often when it joined */
	struct futex_waiter *futex_waiters; /* sys/futexq.h: where it waits, futex_count of them */
	uint32_t futex_count, futex_room;
	bool futex_woken; /* with this answer */
	int64_t futex_answer;
	uint32_t fd_slot;	/* fdwait.h; 0: none yet */
	uint32_t fd_generation; /* of its tries */
	struct spin *spin;	/* TASK_SPINNING: on what */
	bool forced;		/* was made to give way in such a loop that is not pure */
	struct park park;
	struct timer park_timer;
	struct task *next; /* all tasks, in order of creation */
	struct task *queue_next;
};

/* All tasks, processes and address spaces in order of creation. */
extern struct task *task_list;
extern struct process *process_list;
extern struct mm *mm_list;

struct task *task_find(pid_t tid);	 /* NULL when absent */
struct process *process_find(pid_t pid); /* NULL when absent; zombies are found */
/* Its first living task; NULL when none is left. */
struct task *process_task(const struct process *p);
struct task *task_new(pid_t tid, struct process *proc, struct mm *mm);
struct process *process_new(pid_t pid, pid_t parent);
struct mm *mm_new(void);		 /* one reference */
struct mm *mm_copy(const struct mm *mm); /* after fork: the stubs are inherited */
void mm_unref(struct mm *mm);
/* Unlinks and frees; the process stays until process_free. */
void task_free(struct task *t);
void process_free(struct process *p);
/* Its pidfd, opened when first needed; -1 with errno. Borrowed. */
int process_pidfd(struct process *p);
/*
 * The guest's descriptor as a duplicate of ours: use and close it within the same stop (a kept one
 * would delay end of file and lock release). -1 with errno EBADF as the guest would see it.
 */
int task_dup_fd(struct task *t, int fd);

#endif
