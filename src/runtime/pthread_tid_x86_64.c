/* SPDX-License-Identifier: MIT */
/*
 * pthread_tid_x86_64.c - offsets in struct pthread, of glibc and of musl, of the member with the
 * kernel's id of the thread.
 * Sources: _thread_db_pthread_tid in glibc's libc.so.6 (2.17 to 2.42); pthread_impl.h of musl 1.2.
 */
#include "runtime/runtime_kind_internal.h"

const uint32_t pthread_tid_offset[2] = { 720, 48 };
const int pthread_tid_has_self = 1;
