/* SPDX-License-Identifier: MIT */
/*
 * pthread_tid_aarch64.c - where struct pthread has the kernel's id of its thread.
 * glibc: nptl/descr.h; musl 1.2: its pthread_impl.h.
 */
#include "runtime/runtime_kind_internal.h"

const uint32_t pthread_tid_offset[2] = { 208, 32 };
const int pthread_tid_has_self = 0;
