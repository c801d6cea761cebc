/* SPDX-License-Identifier: MIT */
/*
 * own_stack_internal.h - a call on a stack of its own, for code that takes more of it than ours
 * surely has.
 */
#ifndef WALLSAMPLE_ELF_OWN_STACK_INTERNAL_H
#define WALLSAMPLE_ELF_OWN_STACK_INTERNAL_H

#include <stddef.h>

/*
 * Calls function(context) on a stack of `size` bytes and returns when it has returned. No
 * signal is handled on that stack. When there is no such stack to be had it is not called.
 */
void own_stack_call(size_t size, void (*function)(void *context), void *context);

#endif
