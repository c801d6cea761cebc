/* SPDX-License-Identifier: MIT */
/*
 * pthread_tid_aarch64.c - offsets in struct pthread, of glibc and of musl, of the member with the
 * kernel's id of the thread.
 * Sources: nptl/descr.h of glibc; pthread_impl.h of musl 1.2.
 */
#include "runtime/runtime_kind_internal.h"

const uint32_t pthread_tid_offset[2] = { 208, 32 };
const int pthread_tid_has_self = 0;
