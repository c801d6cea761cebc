/* SPDX-License-Identifier: MIT */
/* debug_frame_internal.h - whether reading an ELF file's .debug_frame is affordable. */
#ifndef WALLSAMPLE_UNWIND_DEBUG_FRAME_INTERNAL_H
#define WALLSAMPLE_UNWIND_DEBUG_FRAME_INTERNAL_H

#include <libelf.h>
#include <stdbool.h>

/*
 * Returns true when the file has a .debug_frame and its debug sections are small when unpacked.
 * libdw reads and unpacks all of them to reach this one section, which takes seconds and gigabytes
 * for some programs, during a tick. `elf` is borrowed.
 */
bool debug_frame_is_cheap(Elf *elf);

#endif
