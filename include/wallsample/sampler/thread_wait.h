/* SPDX-License-Identifier: MIT */
/* thread_wait.h - frames and stacks of the profile that stand for locks and for unknown holders. */
#ifndef WALLSAMPLE_SAMPLER_THREAD_WAIT_H
#define WALLSAMPLE_SAMPLER_THREAD_WAIT_H

#include <stdint.h>

#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/wait/wait.h"

/* Returns the frame of a lock at this address: a variable of a module, or the bare address. */
uint32_t frame_of_data(const struct maps *maps, struct profile *profile, uint64_t address);

/* Returns a stack of one named frame that says why no thread's stack can be blamed. */
uint32_t stack_of_unknown_holder(struct profile *profile, const struct wait_owner *owner);

#endif
