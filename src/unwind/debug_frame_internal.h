/* SPDX-License-Identifier: MIT */
/* debug_frame_internal.h - whether an ELF file's .debug_frame is to be had at a price. */
#ifndef WALLSAMPLE_UNWIND_DEBUG_FRAME_INTERNAL_H
#define WALLSAMPLE_UNWIND_DEBUG_FRAME_INTERNAL_H

#include <libelf.h>
#include <stdbool.h>

/*
 * Has the file that section, and little enough debug information besides? libdw reads and
 * unpacks all of it to get at this one section: seconds and gigabytes of some programs, in
 * the middle of a tick.
 */
bool debug_frame_is_cheap(Elf *elf);

#endif
