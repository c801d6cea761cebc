/* SPDX-License-Identifier: MIT */
/*
 * go_poll.c - the descriptor for which a goroutine waits in Go's poller.
 *
 * The runtime has a record for each descriptor of the poller: runtime.pollDesc in
 * runtime/netpoll.go. Its members `rg` and `wg` are the addresses of the goroutines that wait to
 * read and to write. No member of a goroutine leads to that record, but two functions below
 * runtime.gopark need it when the wait is over, and so have these values on the goroutine's stack:
 * runtime.poll_runtime_pollWait the address of the record, and runtime.netpollblock that of `rg` or
 * `wg`. Two words on the stack with that distance are taken for them if the record then has the
 * address of the goroutine.
 */
#include <limits.h>

#include "runtime/go/go_internal.h"

/* Words of the stack, from the stack pointer on, in which the two addresses are sought. In programs
 * made by Go 1.26 for x86-64 they are within the first 24. */
#define WORDS_MOST 96
/* Most pairs of words whose record is read. */
#define PAIRS_MOST 8

/* Offsets in runtime.pollDesc since 1.21, which has added `fdseq` before `rg`. */
#define MINOR_LEAST 21
#define POLL_FD 8
#define POLL_READER 32
#define POLL_WRITER 40
#define POLL_SIZE 48

/* Returns the descriptor in the record at `address` if the goroutine waits there; -1: it does not.
 * `member`: offset of the member that must have the goroutine. */
static int
read_record(struct go_runtime *go, uint64_t address, size_t member, const struct green_task *task)
{
	const struct memory_piece piece = { .address = address, .size = POLL_SIZE };
	uint8_t record[POLL_SIZE];
	uint64_t fd;
	bool got;

	runtime_read_pieces(go->base.tools, &piece, 1, record, &got);
	if (!got || member_u64(record, member) != task->address)
		return -1;
	fd = member_u64(record, POLL_FD);
	return fd <= INT_MAX ? (int)fd : -1;
}

int
go_poll_descriptor(struct go_runtime *go, const struct green_task *task, const uint8_t *stack,
		   size_t size, bool *writes)
{
	const size_t all = size / sizeof(uint64_t);
	const size_t words = all < WORDS_MOST ? all : WORDS_MOST;
	size_t pairs = 0;

	if (go->home.layout.minor < MINOR_LEAST)
		return -1;
	for (size_t i = 0; i < words; i++) {
		const uint64_t record = member_u64(stack, i * sizeof(record));

		if (record == 0 || record % sizeof(record) != 0)
			continue;
		for (size_t j = 0; j < words && pairs < PAIRS_MOST; j++) {
			const uint64_t distance = member_u64(stack, j * sizeof(record)) - record;
			int fd;

			if (distance != POLL_READER && distance != POLL_WRITER)
				continue;
			pairs++;
			fd = read_record(go, record, (size_t)distance, task);
			*writes = distance == POLL_WRITER;
			if (fd >= 0)
				return fd;
		}
	}
	return -1;
}
