/* SPDX-License-Identifier: MIT */
/* own_file.h - the file of the running test program. */
#ifndef TEST_OWN_FILE_H
#define TEST_OWN_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the file, which the caller frees, and stores their number. */
uint8_t *own_file_read(size_t *size);

/* Returns the address at which the program is loaded minus that of the file: the difference of the
 * address of a function and its vaddr. */
uint64_t own_file_bias(void);

#endif
