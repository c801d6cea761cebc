/* SPDX-License-Identifier: MIT */
/* walk_end_internal.h - why a walk ended. */
#ifndef WALLSAMPLE_UNWIND_WALK_END_INTERNAL_H
#define WALLSAMPLE_UNWIND_WALK_END_INTERNAL_H

#include "unwind/unwind_method_internal.h"

/* Returns why a walk has ended for which the methods have returned `result`. */
enum chain_end walk_end(const struct walk *walk, enum advance result);

/* Returns true when memory could not be read for the caller of the walk's last frame, but not
 * because the frame pointer register has another value: frame records are above the stack pointer.
 * The function in which musl calls main() has argc in this register. */
bool walk_is_unreadable(const struct walk *walk);

#endif
