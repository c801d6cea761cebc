/* SPDX-License-Identifier: MIT */
/* toy_vm.h - what the toy interpreter keeps in memory: the symbol toy_vm, and frames. */
#ifndef LIVE_TOY_VM_H
#define LIVE_TOY_VM_H

#include <stdint.h>

#define TOY_MAGIC UINT64_C(0x314d5659544f59)
#define TOY_THREADS 4
#define TOY_DEPTH 16
#define TOY_NAME 32

/* A function that is being interpreted. */
struct toy_frame {
	char function[TOY_NAME];
	char file[TOY_NAME];
	uint64_t line;
	uint64_t caller; /* its struct toy_frame; 0: the outermost */
	uint64_t anchor; /* an address on the stack of the call of toy_execute that executes it */
};

struct toy_thread {
	uint64_t tid; /* 0: not started */
	uint64_t top; /* the innermost frame; 0: none */
};

struct toy_vm {
	uint64_t magic;
	uint32_t lock;   /* a futex: 1 if held */
	uint32_t holder; /* tid; 0: none */
	struct toy_thread thread[TOY_THREADS];
};

#endif
