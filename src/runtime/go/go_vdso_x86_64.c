/* SPDX-License-Identifier: MIT */
/* go_vdso_x86_64.c - how Go calls the vdso. */
#include "runtime/go/go_internal.h"

/* runtime/sys_linux_amd64.s: behind the return address. */
const uint64_t go_vdso_frame_pointer = 16;
