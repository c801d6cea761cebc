/* SPDX-License-Identifier: MIT */
/*
 * system_v.h - semaphores and message queues of System V IPC, sysvipc(7). An object is identified
 * by its id and the IPC namespace of the process. Only calls that read are made.
 */
#ifndef WALLSAMPLE_WAIT_SYSTEM_V_H
#define WALLSAMPLE_WAIT_SYSTEM_V_H

#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"
#include "wallsample/wait/wait.h"

/* Returns the number of the IPC namespace of the process (its inode); 0: it is that of wallsample,
 * or cannot be read. */
uint64_t system_v_namespace(const struct process *process);

/*
 * Adds the name of the object of a wait of the kinds SYSTEM_SEMAPHORE and MESSAGE_*, as it follows
 * the text of the kind: "2 of set 32769, key 0x4d2", "32770, key 0x4d3". The key is missing if it
 * is IPC_PRIVATE or may not be read. `namespace`: see above; of another one the number is added.
 */
void system_v_add_object(const struct wait *wait, uint64_t namespace, struct strbuf *out);

/* Returns the id, in wallsample's pid namespace, of the process that has operated last on a
 * semaphore of wallsample's IPC namespace: sempid of semctl(2). 0: it is not known, because there
 * was no operation, wallsample may not read the semaphore, or the process is in another pid
 * namespace. Takes 1 us. */
pid_t system_v_last_pid(int id, int semaphore);

#endif
