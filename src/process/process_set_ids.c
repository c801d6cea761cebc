/* SPDX-License-Identifier: MIT */
/*
 * process_set_ids.c - the ids of threads and processes that the kernel has handed out.
 *
 * The kernel hands them out in ascending order, and after the largest one continues with
 * NEW_IDS_FIRST; it skips those in use (alloc_pid of kernel/pid.c). A process in an inner PID
 * namespace gets an id in each outer namespace, too.
 */
#include "process/process_set_parts_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns the limit of ids. Inner PID namespaces have their own since Linux 6.14. */
static pid_t
read_limit(void)
{
	uint64_t limit;

	if (!file_read_number(AT_FDCWD, "/proc/sys/kernel/pid_max", &limit) ||
	    limit > PROCESS_ID_LIMIT)
		return PROCESS_ID_LIMIT;
	return (pid_t)limit;
}

/* Stores the newest id in *newest, and returns true if it is another one than the last time. */
static bool
read_newest(struct new_ids *ids, pid_t *newest)
{
	uint64_t number;

	if (loadavg_has_new_thread(&ids->loadavg)) {
		*newest = (pid_t)ids->loadavg.newest;
		return ids->loadavg.newest > 0 && ids->loadavg.newest < PROCESS_ID_LIMIT;
	}
	if (ids->loadavg.fd >= 0)
		return false;
	/* In a container, the file system lxcfs may be in the place of /proc/loadavg, but not in
	 * that of this file, which kernels with CONFIG_CHECKPOINT_RESTORE have. */
	if (!file_read_number(AT_FDCWD, "/proc/sys/kernel/ns_last_pid", &number) || number == 0 ||
	    number >= PROCESS_ID_LIMIT || (ids->known && (pid_t)number == ids->newest))
		return false;
	*newest = (pid_t)number;
	return true;
}

bool
new_ids_read(struct new_ids *ids)
{
	pid_t newest;

	if (!read_newest(ids, &newest))
		return ids->known;
	if (ids->known)
		new_ids_extend(ids, newest, newest < ids->newest ? read_limit() : ids->limit);
	ids->newest = newest;
	ids->known = true;
	return true;
}

void
new_ids_extend(struct new_ids *ids, pid_t newest, pid_t limit)
{
	if (newest == ids->newest)
		return;
	if (!ids->waiting)
		ids->next = ids->newest + 1;
	ids->waiting = true;
	ids->newest = newest;
	ids->limit = limit;
}

/* Returns the first id after the largest one. A program that restores checkpoints may have set a
 * lower one. */
static pid_t
first_again(const struct new_ids *ids)
{
	return ids->newest < NEW_IDS_FIRST ? 1 : NEW_IDS_FIRST;
}

size_t
new_ids_count(const struct new_ids *ids)
{
	size_t count = 0;

	if (!ids->waiting)
		return 0;
	if (ids->next <= ids->newest)
		return (size_t)(ids->newest - ids->next) + 1;
	if (ids->next < ids->limit)
		count = (size_t)(ids->limit - ids->next);
	return count + (size_t)(ids->newest - first_again(ids)) + 1;
}

pid_t
new_ids_next(struct new_ids *ids)
{
	pid_t id;

	if (!ids->waiting)
		return 0;
	if (ids->next > ids->newest && ids->next >= ids->limit)
		ids->next = first_again(ids);
	id = ids->next++;
	ids->waiting = id != ids->newest;
	return id;
}

void
new_ids_release(struct new_ids *ids)
{
	loadavg_release(&ids->loadavg);
}

/* Neither call has an effect. tgkill(2) with signal 0 finds a process by the id of its first thread
 * and no other thread; a refusal, such as EPERM, comes after it has found the process. */
enum id_state
new_ids_state(pid_t id)
{
	if (syscall(SYS_tgkill, id, id, 0) == 0 || errno != ESRCH)
		return ID_PROCESS;
	return getpgid(id) < 0 && errno == ESRCH ? ID_UNUSED : ID_THREAD;
}
