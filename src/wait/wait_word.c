/* SPDX-License-Identifier: MIT */
/* wait_word.c - whether the word of a lock names its owner. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include "wait/wait_internal.h"

static bool
is_thread(const struct wait_source *source, uint32_t tid)
{
	return tid != 0 && tid < TID_LIMIT && source->thread(source->context, (pid_t)tid) != 0;
}

bool
word_has_owner(const struct futex_wait *wait)
{
	const uint32_t now = around_u32(wait, 0);

	return ((now | wait->value) & FUTEX_OWNER_DIED) != 0 ||
	       is_thread(wait->source, wait->value & FUTEX_TID_MASK) ||
	       is_thread(wait->source, now & FUTEX_TID_MASK);
}
