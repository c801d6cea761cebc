/* SPDX-License-Identifier: MIT */
/* go_vdso_x86_64.c - the frame pointer of a caller of the vdso in Go. */
#include "runtime/go/go_internal.h"

/* runtime/sys_linux_amd64.s saves it next to the return address. */
const uint64_t go_vdso_frame_pointer = 16;
