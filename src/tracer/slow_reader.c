/* SPDX-License-Identifier: MIT */
/* slow_reader.c - reads memory in a second process, which may be kept waiting for ever. */
#include "tracer/slow_reader_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/helper.h"

#define BYTES_MOST ((size_t)1 << 20)
/* Longest wait for a read. A thread of the target is stopped meanwhile. */
#define WAIT_NS (5 * NS_PER_MS)

/* Memory that both processes share: a request, and what was read. */
struct shared {
	pid_t tid;
	uint32_t count;
	struct memory_piece piece[MEMORY_PIECES_MOST];
	uint8_t bytes[BYTES_MOST];
};

struct reply {
	uint32_t number; /* that of the request */
	uint64_t size;   /* bytes that were read */
};

struct slow_reader {
	int fd; /* socket: numbers of requests are sent, replies come back; -1: no process runs */
	uint32_t number;
	bool busy; /* there was no reply to the last request yet */
	struct shared *shared;
	struct helper *helper; /* of the process that was started last; NULL: none */
};

/* --- the process -------------------------------------------------------------------------- */

static uint64_t
read_pieces(struct shared *shared)
{
	struct iovec local = { .iov_base = shared->bytes, .iov_len = BYTES_MOST };
	struct iovec remote[MEMORY_PIECES_MOST];
	ssize_t got;

	for (uint32_t i = 0; i < shared->count; i++)
		remote[i] = (struct iovec){
			.iov_base = (void *)(uintptr_t)shared->piece[i].address,
			.iov_len = shared->piece[i].size,
		};
	got = process_vm_readv(shared->tid, &local, 1, remote, shared->count, 0);
	return got > 0 ? (uint64_t)got : 0;
}

static void
serve(void *context, int fd)
{
	struct shared *shared = context;
	struct reply reply = { 0 };

	while (read(fd, &reply.number, sizeof(reply.number)) == (ssize_t)sizeof(reply.number)) {
		reply.size = read_pieces(shared);
		if (write(fd, &reply, sizeof(reply)) != (ssize_t)sizeof(reply))
			return;
	}
}

/* --- wallsample --------------------------------------------------------------------------- */

struct slow_reader *
slow_reader_create(void)
{
	struct slow_reader *reader = xcalloc(1, sizeof(*reader));

	reader->fd = -1;
	reader->shared = mmap(NULL, sizeof(*reader->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	slow_reader_renew(reader);
	return reader;
}

void
slow_reader_renew(struct slow_reader *reader)
{
	const struct helper_plan plan = {
		.name = "ws-reader",
		.type = SOCK_SEQPACKET,
		.serve = serve,
		.context = reader->shared,
	};

	if (reader->fd >= 0 || reader->shared == MAP_FAILED)
		return;
	(void)helper_end(reader->helper, 0, NULL);
	reader->helper = helper_start(&plan, &reader->fd);
}

/* Called when the socket shows that the process has ended. A thread of the target is stopped, so
 * that nothing is waited for: slow_reader_renew() frees the helper. */
static void
note_end(struct slow_reader *reader)
{
	close(reader->fd);
	reader->fd = -1;
	reader->busy = false;
}

void
slow_reader_free(struct slow_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	(void)helper_end(reader->helper, 0, NULL);
	if (reader->shared != MAP_FAILED)
		munmap(reader->shared, sizeof(*reader->shared));
	free(reader);
}

/* Waits up to `bound_ns` for the reply to the last request; sets *size. */
static bool
take_reply(struct slow_reader *reader, uint64_t bound_ns, uint64_t *size)
{
	const uint64_t until = clock_now_ns() + bound_ns;
	struct reply reply;

	for (;;) {
		struct pollfd poll = { .fd = reader->fd, .events = POLLIN };
		const uint64_t now = clock_now_ns();
		const uint64_t left = until > now ? until - now : 0;
		const struct timespec wait = { .tv_nsec = (long)left };
		const int ready = ppoll(&poll, 1, &wait, NULL);

		if (ready == 0 || (ready < 0 && errno != EINTR))
			return false;
		if (ready < 0)
			continue;
		if (recv(reader->fd, &reply, sizeof(reply), MSG_DONTWAIT) != sizeof(reply)) {
			note_end(reader);
			return false;
		}
		if (reply.number != reader->number)
			continue;
		reader->busy = false;
		*size = reply.size;
		return true;
	}
}

/* Puts the pieces into the request, up to BYTES_MOST bytes. Returns the number of bytes. */
static size_t
put_request(struct slow_reader *reader, pid_t tid, const struct memory_piece *piece, size_t count)
{
	struct shared *shared = reader->shared;
	size_t left = BYTES_MOST;

	shared->tid = tid;
	shared->count = 0;
	for (size_t i = 0; i < count && i < MEMORY_PIECES_MOST && left > 0; i++) {
		const size_t size = piece[i].size < left ? piece[i].size : left;

		shared->piece[shared->count++] = (struct memory_piece){ .address = piece[i].address,
									.size = size };
		left -= size;
	}
	return BYTES_MOST - left;
}

size_t
slow_reader_read(struct slow_reader *reader, pid_t tid, const struct memory_piece *piece,
		 size_t count, void *to)
{
	uint64_t size = 0;
	size_t wanted;

	if (reader->fd < 0 || (reader->busy && !take_reply(reader, 0, &size)))
		return 0;
	wanted = put_request(reader, tid, piece, count);
	reader->number++;
	if (send(reader->fd, &reader->number, sizeof(reader->number),
		 MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(reader->number)) {
		note_end(reader);
		return 0;
	}
	reader->busy = true;
	if (!take_reply(reader, WAIT_NS, &size))
		return 0;
	if (size > wanted)
		size = wanted;
	memcpy(to, reader->shared->bytes, size);
	return size;
}
