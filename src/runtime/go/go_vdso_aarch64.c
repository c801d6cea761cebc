/* SPDX-License-Identifier: MIT */
/* go_vdso_aarch64.c - where nanotime and walltime of Go save the frame pointer, on AArch64. */
#include "runtime/go/go_internal.h"

const uint64_t go_vdso_frame_pointer = 0;
