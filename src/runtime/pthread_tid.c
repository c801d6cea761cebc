/* SPDX-License-Identifier: MIT */
/* pthread_tid.c - reads the kernel's id of a thread from the structure that its pthread_t points
 * to. */
#include "runtime/runtime_kind_internal.h"

#define SELF_OFFSETS 2

static int
pthread_has_self(const struct memory *memory, uint64_t pthread, size_t library)
{
	/* Offsets in bytes of the structure's pointer to itself: in glibc's tcbhead_t (member
	 * `self`), and in musl's struct pthread. */
	static const uint32_t self[SELF_OFFSETS] = { 16, 0 };
	uint64_t word;

	return !pthread_tid_has_self ||
	       (memory_read(memory, pthread + self[library], &word, sizeof(word)) &&
		word == pthread);
}

pid_t
pthread_tid_read(const struct memory *memory, uint64_t pthread)
{
	for (size_t i = 0; i < SELF_OFFSETS; i++) {
		uint32_t tid;

		if (pthread_has_self(memory, pthread, i) &&
		    memory_read(memory, pthread + pthread_tid_offset[i], &tid, sizeof(tid)) &&
		    tid > 0 && tid <= INT32_MAX)
			return (pid_t)tid;
	}
	return 0;
}
