/* SPDX-License-Identifier: MIT */
/* file_proxy.c - calls of functions in a second process, by shared memory and a socket. */
#include "wallsample/base/file_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "wallsample/base/helper.h"
#include "wallsample/base/pass.h"

/* Most processes that are started in a run: each one that hangs is replaced. */
#define STARTS_MOST 8
/* Longest sleep in a wait: a signal that arrives just before the sleep does not end it. */
#define NAP_NS (100 * NS_PER_MS)
/* A sleep that takes longer than this counts as this long: wallsample did not run, because it was
 * stopped or had no CPU, and perhaps neither did the process. */
#define AWAKE_NS (2 * NAP_NS)
/* Longest wait after file_waiting.stop was set. */
#define STOPPING_NS NS_PER_SEC
/* Longest wait for the end of a process that was killed. */
#define END_NS (100 * NS_PER_MS)

/* Memory that both processes share, at the same address: a call, its arguments and results. */
struct shared {
	struct file_call call;
	_Alignas(16) uint8_t in[FILE_PROXY_IN_MOST];
	_Alignas(16) uint8_t out[FILE_PROXY_OUT_MOST];
};

struct file_proxy {
	pid_t owner;           /* the process that has created the proxy */
	struct helper *helper; /* the process that runs; NULL: none */
	int fd;                /* socket; -1: no process runs */
	struct shared *shared; /* of the process that runs */
	unsigned starts;
	uint64_t hung[STARTS_MOST]; /* file systems of the calls that have hung */
	size_t hung_count;
	struct file_waiting waiting;
};

/* --- messages: one byte, and a descriptor or none ----------------------------------------- */

static bool
send_message(int to, int fd)
{
	return pass_send(to, &(uint8_t){ 0 }, 1, fd) == 1;
}

/* Receives a message; stores its descriptor, which the caller closes, or -1. Returns false at the
 * end of the other process. */
static bool
receive_message(int from, int *fd)
{
	uint8_t byte;
	ssize_t got;

	do
		got = pass_receive(from, &byte, 1, fd);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

/* --- the process -------------------------------------------------------------------------- */

static void
serve(void *context, int fd)
{
	struct shared *shared = context;
	int in_fd;

	while (receive_message(fd, &in_fd)) {
		struct file_call call = shared->call;
		bool sent;

		call.in_fd = in_fd;
		call.in = shared->in;
		call.out = shared->out;
		call.got = 0;
		call.out_fd = -1;
		call.function(&call);
		shared->call.got = call.got;
		sent = send_message(fd, call.out_fd);
		/* close(2) may block, too, so it follows the answer. */
		if (call.out_fd >= 0)
			close(call.out_fd);
		if (in_fd >= 0)
			close(in_fd);
		if (!sent)
			return;
	}
}

/* --- wallsample --------------------------------------------------------------------------- */

static bool
start(struct file_proxy *proxy)
{
	struct helper_plan plan = { .name = "ws-files", .type = SOCK_SEQPACKET, .serve = serve };

	if (proxy->starts == STARTS_MOST)
		return false;
	proxy->starts++;
	proxy->shared = mmap(NULL, sizeof(*proxy->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (proxy->shared == MAP_FAILED)
		return false;
	plan.context = proxy->shared;
	proxy->helper = helper_start(&plan, &proxy->fd);
	if (proxy->helper == NULL)
		munmap(proxy->shared, sizeof(*proxy->shared));
	return proxy->helper != NULL;
}

/* Kills the process, and waits up to `wait_ns` for its end. */
static void
end_process(struct file_proxy *proxy, uint64_t wait_ns)
{
	if (proxy->fd < 0)
		return;
	close(proxy->fd);
	proxy->fd = -1;
	(void)helper_end(proxy->helper, wait_ns, NULL);
	proxy->helper = NULL;
	munmap(proxy->shared, sizeof(*proxy->shared));
}

struct file_proxy *
file_proxy_create(void)
{
	struct file_proxy *proxy = xcalloc(1, sizeof(*proxy));

	proxy->owner = getpid();
	proxy->fd = -1;
	start(proxy);
	return proxy;
}

void
file_proxy_end(struct file_proxy *proxy)
{
	if (proxy != NULL && proxy->owner == getpid())
		end_process(proxy, END_NS);
}

void
file_proxy_free(struct file_proxy *proxy)
{
	file_proxy_end(proxy);
	free(proxy);
}

void
file_proxy_set_waiting(struct file_proxy *proxy, const struct file_waiting *waiting)
{
	if (proxy != NULL)
		proxy->waiting = *waiting;
}

static bool
has_hung(const struct file_proxy *proxy, uint64_t device)
{
	for (size_t i = 0; i < proxy->hung_count && device != 0; i++)
		if (proxy->hung[i] == device)
			return true;
	return false;
}

/* Waits until the answer is there. Returns false, with errno set, if it does not come. */
static bool
await(const struct file_proxy *proxy)
{
	const volatile sig_atomic_t *stop = proxy->waiting.stop;
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t left = FILE_PROXY_WAIT_NS, before = clock_now_ns();

	while (left > 0) {
		struct pollfd poll = { .fd = proxy->fd, .events = POLLIN };
		uint64_t now, passed;
		int ready;

		if (stop != NULL && *stop != 0 && left > STOPPING_NS)
			left = STOPPING_NS;
		ready = ppoll(&poll, 1, &nap, NULL);
		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
		now = clock_now_ns();
		passed = now - before < AWAKE_NS ? now - before : AWAKE_NS;
		before = now;
		left -= passed < left ? passed : left;
	}
	errno = ETIMEDOUT;
	return false;
}

/* Waits for the answer to the call that was sent, and takes it. After a failure the process is not
 * used any more. */
static bool
take_answer(struct file_proxy *proxy, struct file_call *call)
{
	const bool there = await(proxy);
	int error = errno;

	if (there && receive_message(proxy->fd, &call->out_fd)) {
		call->got = proxy->shared->call.got;
		if (call->got > call->out_size)
			call->got = call->out_size;
		if (call->got > 0)
			memcpy(call->out, proxy->shared->out, call->got);
		return true;
	}
	if (there)
		error = EIO;
	if (error == ETIMEDOUT && call->device != 0 && proxy->hung_count < STARTS_MOST)
		proxy->hung[proxy->hung_count++] = call->device;
	end_process(proxy, 0);
	errno = error;
	return false;
}

static bool
call_process(struct file_proxy *proxy, struct file_call *call)
{
	proxy->shared->call = *call;
	if (call->in_size > 0)
		memcpy(proxy->shared->in, call->in, call->in_size);
	if (send_message(proxy->fd, call->in_fd))
		return take_answer(proxy, call);
	end_process(proxy, 0);
	errno = EIO;
	return false;
}

/* Calls the process, and another one if it has ended: something may have killed it since the last
 * call. */
static bool
call_twice(struct file_proxy *proxy, struct file_call *call)
{
	for (int i = 0; i < 2; i++) {
		if (proxy->fd < 0 && !start(proxy)) {
			errno = EIO;
			return false;
		}
		if (call_process(proxy, call))
			return true;
		if (errno != EIO)
			return false;
	}
	return false;
}

bool
file_proxy_call(struct file_proxy *proxy, struct file_call *call)
{
	const struct file_waiting *waiting;
	bool answered;

	call->got = 0;
	call->out_fd = -1;
	if (proxy == NULL || proxy->owner != getpid()) {
		call->function(call);
		return true;
	}
	if (has_hung(proxy, call->device)) {
		errno = ETIMEDOUT;
		return false;
	}
	if (call->in_size > FILE_PROXY_IN_MOST || call->out_size > FILE_PROXY_OUT_MOST) {
		errno = EIO;
		return false;
	}
	waiting = &proxy->waiting;
	/* Starting a process takes time, too: begin() comes before it. */
	if (waiting->begin != NULL)
		waiting->begin(waiting->context);
	answered = call_twice(proxy, call);
	if (waiting->end != NULL) {
		const int error = errno;

		waiting->end(waiting->context);
		errno = error;
	}
	return answered;
}

/* --- reading ------------------------------------------------------------------------------ */

static void
read_part(struct file_call *call)
{
	uint64_t offset;

	memcpy(&offset, call->in, sizeof(offset));
	call->got = file_read_at(call->in_fd, offset, call->out, call->out_size);
}

/* Reads bytes that are in the page cache, as pread(2). Returns -1 if they are not, or the file
 * system does not tell. */
static ssize_t
read_cached(int fd, uint64_t offset, void *to, size_t size)
{
	struct iovec part = { to, size };
	ssize_t got;

	do
		got = preadv2(fd, &part, 1, (off_t)offset, RWF_NOWAIT);
	while (got < 0 && errno == EINTR);
	return got;
}

size_t
file_proxy_read(struct file_proxy *proxy, uint64_t device, int fd, uint64_t offset, void *to,
		size_t size)
{
	size_t done = 0;

	errno = 0;
	if (proxy == NULL)
		return file_read_at(fd, offset, to, size);
	while (done < size) {
		const uint64_t at = offset + done;
		struct file_call call = { .function = read_part,
					  .device = device,
					  .in = &at,
					  .in_size = sizeof(at),
					  .in_fd = fd,
					  .out = (uint8_t *)to + done,
					  .out_size = size - done };
		const ssize_t cached = read_cached(fd, at, call.out, call.out_size);

		if (cached == 0)
			break;
		if (cached > 0) {
			done += (size_t)cached;
			continue;
		}
		if (call.out_size > FILE_PROXY_OUT_MOST)
			call.out_size = FILE_PROXY_OUT_MOST;
		if (!file_proxy_call(proxy, &call))
			return done;
		done += call.got;
		if (call.got < call.out_size)
			break;
	}
	errno = 0;
	return done;
}

struct stat_result {
	struct stat st;
	int error;
};

static void
stat_file(struct file_call *call)
{
	struct stat_result *result = call->out;

	result->error = fstat(call->in_fd, &result->st) == 0 ? 0 : errno;
	call->got = sizeof(*result);
}

int
file_proxy_stat(struct file_proxy *proxy, uint64_t device, int fd, struct stat *st)
{
	struct stat_result result = { .error = EIO };
	struct file_call call = { .function = stat_file,
				  .device = device,
				  .in = "",
				  .in_fd = fd,
				  .out = &result,
				  .out_size = sizeof(result) };

	if (proxy == NULL)
		return fstat(fd, st);
	if (!file_proxy_call(proxy, &call))
		return -1;
	*st = result.st;
	errno = result.error;
	return result.error == 0 ? 0 : -1;
}

int
file_stat_cached(int fd, struct stat *st)
{
	struct statx now;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE | STATX_MTIME, &now) != 0)
		return -1;
	st->st_size = (off_t)now.stx_size;
	st->st_mtim.tv_sec = now.stx_mtime.tv_sec;
	st->st_mtim.tv_nsec = now.stx_mtime.tv_nsec;
	return 0;
}
