/* SPDX-License-Identifier: MIT */
/* process_memory.c - reads the memory of a live process: process_vm_readv(2). */
#include <errno.h>
#include <sys/uio.h>

#include "wallsample/tracer/process_memory.h"

size_t
memory_read_process(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t got;

	/* The range must not wrap around the end of the address space. */
	if (address + size < address) {
		errno = EFAULT;
		return 0;
	}
	/* The kernel copies and counts the bytes up to the first page that is not readable. */
	got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
	return got > 0 ? (size_t)got : 0;
}

size_t
memory_read_pages(pid_t tid, const uint64_t *page, size_t count, void *to)
{
	struct iovec local = { .iov_base = to, .iov_len = count * MEMORY_PAGE };
	struct iovec remote[MEMORY_PAGES_MOST];
	ssize_t got;

	if (count > MEMORY_PAGES_MOST)
		count = MEMORY_PAGES_MOST;
	for (size_t i = 0; i < count; i++)
		remote[i] = (struct iovec){ .iov_base = (void *)(uintptr_t)page[i],
					    .iov_len = MEMORY_PAGE };
	got = process_vm_readv(tid, &local, 1, remote, count, 0);
	return got > 0 ? (size_t)got / MEMORY_PAGE : 0;
}

size_t
memory_read_pieces(pid_t tid, const struct memory_piece *piece, size_t count, void *to)
{
	struct iovec local = { .iov_base = to, .iov_len = 0 };
	struct iovec remote[MEMORY_PIECES_MOST];
	size_t whole = 0;
	ssize_t got;

	if (count == 0)
		return 0;
	if (count > MEMORY_PIECES_MOST)
		count = MEMORY_PIECES_MOST;
	for (size_t i = 0; i < count; i++) {
		remote[i] = (struct iovec){ .iov_base = (void *)(uintptr_t)piece[i].address,
					    .iov_len = piece[i].size };
		local.iov_len += piece[i].size;
	}
	got = process_vm_readv(tid, &local, 1, remote, count, 0);
	while (whole < count && got >= (ssize_t)piece[whole].size)
		got -= (ssize_t)piece[whole++].size;
	return whole;
}
