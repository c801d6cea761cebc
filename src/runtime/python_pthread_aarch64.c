/* SPDX-License-Identifier: MIT */
/*
 * python_pthread_aarch64.c - where struct pthread has the kernel's id of its thread.
 * glibc: nptl/descr.h; musl 1.2: its pthread_impl.h.
 */
#include "python_pthread.h"

const uint32_t python_pthread_offset[2] = { 208, 32 };
const int python_pthread_self = 0;
