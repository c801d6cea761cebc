/* SPDX-License-Identifier: MIT */
/* go_vdso_aarch64.c - where Go functions that call the vdso save the frame pointer, on AArch64. */
#include "runtime/go/go_internal.h"

const uint64_t go_vdso_frame_pointer = 0;
