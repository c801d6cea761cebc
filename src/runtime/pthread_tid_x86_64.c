/* SPDX-License-Identifier: MIT */
/*
 * pthread_tid_x86_64.c - where struct pthread has the kernel's id of its thread.
 * glibc: what its libc.so.6 has in _thread_db_pthread_tid (2.17 to 2.42); musl 1.2: its
 * pthread_impl.h.
 */
#include "runtime/runtime_kind_internal.h"

const uint32_t pthread_tid_offset[2] = { 720, 48 };
const int pthread_tid_has_self = 1;
