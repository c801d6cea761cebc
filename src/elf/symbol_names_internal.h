/* SPDX-License-Identifier: MIT */
/*
 * symbol_names_internal.h - protection from demanglers: bounds for their output and their stack.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H

#include <stddef.h>

/*
 * Upper bound of the bytes of a demangled D name; SIZE_MAX when it exceeds a size_t. It may be
 * too large for names with many back references.
 */
size_t d_name_size(const char *name);

/*
 * Calls function(context) on a new stack of `size` bytes and returns after it. No signal is
 * handled on that stack. Does nothing when there is no memory for the stack.
 */
void own_stack_call(size_t size, void (*function)(void *context), void *context);

#endif
