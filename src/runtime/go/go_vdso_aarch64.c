/* SPDX-License-Identifier: MIT */
/* go_vdso_aarch64.c - how Go calls the vdso. */
#include "runtime/go/go_internal.h"

const uint64_t go_vdso_frame_pointer = 0;
