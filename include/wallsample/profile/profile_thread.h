/* SPDX-License-Identifier: MIT */
/*
 * profile_thread.h - the processes and threads of a profile. Ids are 0, 1, 2, ... and never change.
 * A pointer to a process or thread is valid until another one is added. In this header "task" means
 * a green task (green_task.h).
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_THREAD_H
#define WALLSAMPLE_PROFILE_PROFILE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREAD_NONE UINT32_MAX

/* Id of the first process of a profile, and of the process of profile_no_thread(). */
#define PROCESS_FIRST 0

/* A process whose threads have samples. */
struct profile_process {
	pid_t pid;
	uint64_t start_time; /* in clock ticks since boot; distinguishes processes with this pid */
	uint32_t name;       /* id of a text: the command name */
	uint32_t cmdline;    /* id of a text: the command line */
	pid_t parent;        /* pid of its parent when it was added; 0: not known */
};

/*
 * A thread, or a green task, which a language runtime schedules on threads (green_task.h). The
 * samples of a thread that runs a task are samples of the task. Beyond a limit of the sampler,
 * threads of the same name, or tasks with the same first function, share a record.
 */
struct profile_thread {
	uint32_t process;    /* id of the process, PROCESS_FIRST if none was added */
	pid_t tid;           /* 0 for a task and for a shared record */
	uint64_t start_time; /* distinguishes threads with the same tid */
	/* id of a text: the thread's last name; for a task, green_task_words.noun of its runtime */
	uint32_t name;
	/* Time in ns that a task had waited at its last sample, as its runtime estimates, or that a
	 * thread had been asleep at the end of a dump (sleep_clock.h); 0: not known. Not stored. */
	uint64_t waiting_ns;
	/* The members below are used for tasks only. */
	bool is_green;
	bool system;         /* the task belongs to the runtime */
	uint64_t green_id;   /* 0 for a shared record of tasks */
	uint32_t entry;      /* frame of the task's first function, or FRAME_NONE */
	uint32_t created_at; /* frame that created the task, or FRAME_NONE */
	uint64_t creator;    /* green_id of the task that created it; 0: not known */
};

struct profile;

/*
 * Returns the id of the process with this pid and start time, and sets its name and command line. A
 * process that the profile does not have is added.
 */
uint32_t profile_add_process(struct profile *profile, pid_t pid, uint64_t start_time,
			     const char *name, const char *cmdline);
void profile_set_parent(struct profile *profile, uint32_t process, pid_t parent);
/*
 * Returns the id of the process's thread with this tid and start time, and sets its name. A thread
 * that the profile does not have is added.
 */
uint32_t profile_add_thread(struct profile *profile, uint32_t process, pid_t tid,
			    uint64_t start_time, const char *name);
/*
 * Returns the id of the record for a task. Tasks have the same record if their process, name, entry
 * and green_id, and the address of the task's structure in the target, are equal; the address is
 * ignored if green_id is 0, which makes a shared record. A record that the profile does not have is
 * added as a copy of *task.
 */
uint32_t profile_add_green(struct profile *profile, const struct profile_thread *task,
			   uint64_t address);
/* Sets profile_thread.waiting_ns of a thread or task. */
void profile_set_waiting(struct profile *profile, uint32_t thread, uint64_t waiting_ns);
void profile_rename_thread(struct profile *profile, uint32_t thread, const char *name);

size_t profile_process_count(const struct profile *profile);
/* Returns a process; `id` is below profile_process_count(). */
const struct profile_process *profile_process(const struct profile *profile, uint32_t id);
size_t profile_thread_count(const struct profile *profile);
const struct profile_thread *profile_thread(const struct profile *profile, uint32_t id);

#endif
