/* SPDX-License-Identifier: MIT */
/*
 * procmap_internal.h - what /proc/PID/maps is asked about one address: PROCMAP_QUERY, Linux
 * 6.11.
 */
#ifndef WALLSAMPLE_PROCESS_PROCMAP_INTERNAL_H
#define WALLSAMPLE_PROCESS_PROCMAP_INTERNAL_H

#include <stdint.h>
#include <sys/ioctl.h>

/*
 * The question and answer of the ioctl; the UAPI is include/uapi/linux/fs.h (struct
 * procmap_query). Ours, because the headers of older systems lack it and a newer kernel
 * answers all the same.
 */
struct procmap_question {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size; /* in: room; out: length with the zero, 0 for no name */
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define PROCMAP_QUESTION _IOWR('f', 17, struct procmap_question)
#define PROCMAP_EXECUTABLE UINT64_C(0x04) /* PROCMAP_QUERY_VMA_EXECUTABLE */

_Static_assert(sizeof(struct procmap_question) == 104, "as in the UAPI");

#endif
