/* SPDX-License-Identifier: MIT */
/* code_bytes.h - recognises instructions of x86-64 and aarch64 code in an image by their bytes. */
#ifndef WALLSAMPLE_ELF_CODE_BYTES_H
#define WALLSAMPLE_ELF_CODE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/* Returns true when the instruction before `vaddr` is a system call. */
bool code_follows_syscall(const struct image *image, uint64_t vaddr);

/*
 * Returns the lowest address in (start, end) that a direct call outside of [start, end) calls: a
 * function begins there. Returns `end` when there is none, and when the image has more than 16 MiB
 * of code, which is not searched.
 */
uint64_t code_first_called(const struct image *image, uint64_t start, uint64_t end);

#endif
