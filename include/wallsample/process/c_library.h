/* SPDX-License-Identifier: MIT */
/*
 * c_library.h - what is known of the C libraries glibc and musl: their modules, and their functions
 * that only lead to a system call (plumbing).
 */
#ifndef WALLSAMPLE_PROCESS_C_LIBRARY_H
#define WALLSAMPLE_PROCESS_C_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true when a module with this base name is a C library, or one of glibc's libraries for
 * threads before glibc 2.34: "libc.so.6", "libc-2.31.so", "ld-musl-x86_64.so.1". */
bool c_library_has_module(const char *name);

/* Returns true when the function is one through which lock functions of the C libraries make their
 * system call. The name is the first `length` bytes of `function`, without leading underscores. */
bool c_library_leads_to_syscall(const char *function, size_t length);

/* Returns true when the function, a name as symbol tables have it, makes the system call of any
 * function of the C library that is a cancellation point (pthreads(7)). Its time is that of its
 * caller: poll, read. */
bool c_library_only_calls(const char *function);

#endif
