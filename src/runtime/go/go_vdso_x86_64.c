/* SPDX-License-Identifier: MIT */
/* go_vdso_x86_64.c - where nanotime and walltime of Go save the frame pointer, on x86-64. */
#include "runtime/go/go_internal.h"

/* runtime/sys_linux_amd64.s saves the frame pointer next to the return address. */
const uint64_t go_vdso_frame_pointer = 16;
