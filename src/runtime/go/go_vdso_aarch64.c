/* SPDX-License-Identifier: MIT */
/* go_vdso_aarch64.c - the frame pointer of a caller of the vdso in Go. */
#include "runtime/go/go_internal.h"

const uint64_t go_vdso_frame_pointer = 0;
