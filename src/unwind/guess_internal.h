/* SPDX-License-Identifier: MIT */
/* guess_internal.h - searches the stack for callers that no method finds (by_guess.c). */
#ifndef WALLSAMPLE_UNWIND_GUESS_INTERNAL_H
#define WALLSAMPLE_UNWIND_GUESS_INTERNAL_H

#include "unwind/unwind_method_internal.h"

/*
 * All functions search the copied stack up to 16 KiB above walk->regs.sp.
 *
 * guess_frame_record() finds the next possible frame record (the caller's frame pointer, then the
 * return address) at or above *cursor, stores its address in *record, and moves *cursor to the word
 * above this address. If `function` is the first address of the last frame's function, any two
 * words are accepted of which the second is the return address of a direct call of it. If
 * `function` is 0, the first word must look like a frame pointer, and the second must be an address
 * directly behind some call, or in code without a file; or the second is the address to which
 * signal handlers return. Returns false when there is no further record.
 */
bool guess_frame_record(struct walk *walk, uint64_t function, uint64_t *cursor, uint64_t *record);

/*
 * Appends the caller of a function that has set up no frame, or whose frame pointer is not known.
 * It searches the words from the stack pointer upwards for an address directly behind a direct
 * call. The call must be in the same file as the pc, and its target, or the target of a jump there
 * (musl's __syscall_cp), at most 1 KiB before the pc. If the frame pointer is known, only words
 * below the address in it are searched. Returns false without such a word, or with a full chain.
 */
bool guess_frameless(struct walk *walk);

/* Finds the next word at or above *cursor that may be a return address. If the frame pointer is
 * known and points to a frame record, only words below this record are searched. Stores the word in
 * *address and moves *cursor above it. Returns false when there is no such word. */
bool guess_return_address(struct walk *walk, uint64_t *cursor, uint64_t *address);

#endif
