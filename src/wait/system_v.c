/* SPDX-License-Identifier: MIT */
/* system_v.c - waits for semaphores and message queues of System V. */
#include "wallsample/wait/system_v.h"

#include <inttypes.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>

#include "wait/wait_internal.h"

/* Most operations of a call of semop(2) that are read: SEMOPM, the kernel's default limit. */
#define OPERATIONS_MOST 500

/* --- system calls ----------------------------------------------------------------------------- */

/*
 * An operation that adds to a semaphore does not block. If operations on one semaphore only can
 * block, the thread waits for that one.
 */
void
wait_of_semop(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct sembuf operation[OPERATIONS_MOST];
	const uint64_t count = (uint32_t)call->args[2];
	bool several = false;

	out->system_id = argument_int(call, 0);
	if (count > OPERATIONS_MOST ||
	    !memory_read(&source->memory, call->args[1], operation, count * sizeof(operation[0])))
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (operation[i].sem_op > 0)
			continue;
		several |= out->semaphore >= 0 && out->semaphore != operation[i].sem_num;
		out->semaphore = operation[i].sem_num;
	}
	if (several)
		out->semaphore = -1;
}

void
wait_of_message(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	out->system_id = argument_int(call, 0);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* The argument of semctl(2), which its callers define. */
union semun {
	int value;
	struct semid_ds *set;
};

uint64_t
system_v_namespace(const struct process *process)
{
	struct stat own, its;

	if (stat("/proc/self/ns/ipc", &own) != 0 ||
	    fstatat(process->dirfd, "ns/ipc", &its, 0) != 0 || own.st_ino == its.st_ino)
		return 0;
	return its.st_ino;
}

/* Stores the key of the object. Returns false if it has none, or may not be read. */
static bool
read_key(const struct wait *wait, key_t *key)
{
	struct msqid_ds queue = { .msg_qnum = 0 };
	struct semid_ds set = { .sem_nsems = 0 };

	if (wait->kind == WAIT_SYSTEM_SEMAPHORE) {
		if (semctl(wait->system_id, 0, IPC_STAT, (union semun){ .set = &set }) < 0)
			return false;
		*key = set.sem_perm.__key;
	} else {
		if (msgctl(wait->system_id, IPC_STAT, &queue) < 0)
			return false;
		*key = queue.msg_perm.__key;
	}
	return *key != IPC_PRIVATE;
}

void
system_v_add_object(const struct wait *wait, uint64_t namespace, struct strbuf *out)
{
	key_t key;

	if (wait->kind == WAIT_SYSTEM_SEMAPHORE && wait->semaphore >= 0)
		strbuf_add_format(out, "%d of set ", wait->semaphore);
	else if (wait->kind == WAIT_SYSTEM_SEMAPHORE)
		strbuf_add_text(out, "of set ");
	strbuf_add_format(out, "%d", wait->system_id);
	if (namespace != 0)
		strbuf_add_format(out, " of IPC namespace %" PRIu64, namespace);
	else if (read_key(wait, &key))
		strbuf_add_format(out, ", key 0x%x", (unsigned)key);
}

pid_t
system_v_last_pid(int id, int semaphore)
{
	const int pid = semaphore >= 0 ? semctl(id, semaphore, GETPID) : 0;

	return pid > 0 ? (pid_t)pid : 0;
}
