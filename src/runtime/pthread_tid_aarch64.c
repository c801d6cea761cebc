/* SPDX-License-Identifier: MIT */
/*
 * pthread_tid_aarch64.c - where struct pthread has the kernel's id of its thread.
 * glibc: nptl/descr.h; musl 1.2: its pthread_impl.h.
 */
#include "runtime/pthread_tid_internal.h"

const uint32_t python_pthread_offset[2] = { 208, 32 };
const int python_pthread_self = 0;
