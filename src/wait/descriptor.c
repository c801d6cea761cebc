/* SPDX-License-Identifier: MIT */
/* descriptor.c - descriptors as texts: "pipe to sort (1234)", "epoll of 3: tcp port 80, …". */
#include "wallsample/wait/descriptor.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "wait/descriptor_internal.h"
#include "wallsample/wait/wait_kind.h"

/*
 * Most ids (texts of links in /proc/PID/fd) whose descriptions are cached. A full cache is emptied.
 */
#define KNOWN_MOST 4096

/*
 * The fdinfo file of an epoll is read only if the process has at most this number of descriptors.
 * While the kernel writes the descriptors of an epoll into that file, which takes 2 us for each, it
 * locks the epoll, and the target may have to wait: half a millisecond for this number.
 */
#define WATCHED_MOST 256
#define STATUS_MOST ((size_t)64 << 10)
/* Most bytes of an fdinfo file that are read: an epoll of WATCHED_MOST descriptors has fewer. */
#define INFO_MOST ((size_t)1 << 20)
/* Most texts of descriptors in the text of an epoll. */
#define LISTED_MOST 3

/* --- pipes ----------------------------------------------------------------------------- */

/* Reads the permission bits of the descriptor's link (see holder_is_current in holders.c). */
bool
descriptor_access(const struct descriptors *descriptors, int fd, bool *reads, bool *writes)
{
	struct stat st;
	char name[16];

	snprintf(name, sizeof(name), "%d", fd);
	if (fstatat(descriptors->fd_dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	*reads = (st.st_mode & S_IRUSR) != 0;
	*writes = (st.st_mode & S_IWUSR) != 0;
	return *reads || *writes;
}

/*
 * Adds "pipe to sort (1234)" or "fifo /tmp/fifo from cat (99)". Returns false, and adds nothing,
 * when the descriptor is closed, or when no process at the other end of a pipe is found and not all
 * processes could be read.
 */
static bool
describe_pipe(struct descriptors *descriptors, int fd, const char *id, struct strbuf *out)
{
	const bool named = id[0] == '/';
	enum holder_access wanted = HOLDER_ANY;
	struct holders_found found;
	bool reads, writes;

	if (!descriptor_access(descriptors, fd, &reads, &writes))
		return false;
	if (!reads || !writes)
		wanted = reads ? HOLDER_WRITES : HOLDER_READS;
	endpoints_find_holders(descriptors->endpoints, descriptors->process->pid, id, wanted,
			       &found);
	/* Any process can open a fifo at any time: if no process has the other end open, the text
	 * of a fifo is only "fifo" and its path. */
	if (found.count == 0 && (named || !found.sure)) {
		if (named)
			strbuf_add_format(out, "fifo %s", id);
		return named;
	}
	strbuf_add_format(out, "%s%s %s ", named ? "fifo " : "pipe", named ? id : "",
			  reads && writes ? "of" :
			  reads           ? "from" :
					    "to");
	holders_add_text(&found, out);
	return true;
}

/* Adds "userfaultfd" for the id "anon_inode:[userfaultfd]". Returns false when the id has another
 * form. */
static bool
describe_by_id(const char *id, struct strbuf *out)
{
	size_t length;

	if (!text_begins(id, "anon_inode:"))
		return false;
	id += strlen("anon_inode:");
	id += *id == '[';
	length = strcspn(id, "]");
	strbuf_add(out, id, length);
	return length > 0;
}

/* Like descriptor_describe, but with `nested` the text of an epoll is only "epoll", without its
 * descriptors, which bounds the recursion. */
static bool add_descriptor(struct descriptors *descriptors, int fd, const char *id, bool nested,
			   struct strbuf *out);

/* --- descriptors without a name ------------------------------------------------------- */

static void
read_info(const struct descriptors *descriptors, int fd, struct fdinfo *info)
{
	char name[16];
	char *text = NULL;

	snprintf(name, sizeof(name), "%d", fd);
	if (descriptors->info_dir >= 0)
		text = file_read_text(descriptors->info_dir, name, INFO_MOST, NULL);
	fdinfo_parse(text != NULL ? text : "", info);
	free(text);
}

/* Returns true when descriptor `fd` still has the inode that it had when it was added to the epoll.
 * That does not prove that it is the same object: all eventfds, for example, have one inode. */
static bool
is_same_inode(const struct descriptors *descriptors, int fd, uint64_t inode)
{
	struct statx st;
	char name[16];

	snprintf(name, sizeof(name), "%d", fd);
	return statx(descriptors->fd_dir, name, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO,
		     &st) == 0 &&
	       st.stx_ino == inode;
}

/* Ranks of descriptors in the text of an epoll. Connections that the process has made come first:
 * it waits for their answers. Other sockets bring requests, and other descriptors mostly only wake
 * the thread. */
enum { RANK_CONNECTION, RANK_SOCKET, RANK_OTHER, RANK_COUNT };

static int
rank_of(enum descriptor_kind kind, const char *text)
{
	if (kind != DESCRIPTOR_SOCKET || wait_object_is_own(text))
		return RANK_OTHER;
	return wait_object_is_made(text) && !wait_object_is_pair(text) ? RANK_CONNECTION :
									 RANK_SOCKET;
}

/* A descriptor of an epoll. */
struct watched {
	uint32_t text; /* number in `texts` */
	int rank;
};

/* Describes descriptors of an epoll that are still open. Returns their number; `out` has room for
 * FDINFO_WATCHED. */
static size_t
describe_watched(struct descriptors *descriptors, const struct fdinfo *info, struct strings *texts,
		 struct watched *out)
{
	const size_t count = info->watched < FDINFO_WATCHED ? info->watched : FDINFO_WATCHED;
	struct strbuf part = STRBUF_INIT;
	size_t described = 0;

	for (size_t i = 0; i < count; i++) {
		const int fd = info->first[i].fd;
		char link[LINK_SIZE];
		const enum descriptor_kind kind = descriptor_read(descriptors, fd, link);

		strbuf_clear(&part);
		if (kind == DESCRIPTOR_GONE ||
		    !is_same_inode(descriptors, fd, info->first[i].inode) ||
		    !add_descriptor(descriptors, fd, link, true, &part))
			continue;
		out[described++] = (struct watched){ .text = strings_intern(texts, part.data),
						     .rank = rank_of(kind, part.data) };
	}
	strbuf_release(&part);
	return described;
}

/*
 * Adds "epoll of 5: tcp to 10.0.0.7:5432, tcp port 80, eventfd, …". Considers the FDINFO_WATCHED
 * descriptors with the lowest numbers, and lists up to LISTED_MOST different texts, by rank.
 */
static void
add_epoll(struct descriptors *descriptors, const struct fdinfo *info, struct strbuf *out)
{
	struct strings *texts = strings_create();
	struct watched watched[FDINFO_WATCHED];
	const size_t count = describe_watched(descriptors, info, texts, watched);
	bool listed[FDINFO_WATCHED + 1] = { false }; /* indexed by text */
	size_t added = 0;

	strbuf_add_text(out, "epoll");
	if (info->watched > 0)
		strbuf_add_format(out, " of %zu", info->watched);
	for (int rank = 0; rank < RANK_COUNT; rank++)
		for (size_t i = 0; i < count && added < LISTED_MOST; i++) {
			const uint32_t text = watched[i].text;

			if (watched[i].rank != rank || listed[text])
				continue;
			listed[text] = true;
			strbuf_add_format(out, "%s%s", added++ == 0 ? ": " : ", ",
					  strings_text(texts, text));
		}
	if (added > 0 && added < info->watched)
		strbuf_add_text(out, ", …");
	strings_free(texts);
}

/*
 * Returns the size of the process's descriptor table, which is at least the number of its
 * descriptors, and larger if a descriptor has, or had, a high number. Returns 0 when the size
 * cannot be read.
 */
static uint64_t
read_table_size(const struct descriptors *descriptors)
{
	char *text = file_read_text(descriptors->process->dirfd, "status", STATUS_MOST, NULL);
	const char *at = text != NULL ? strstr(text, "\nFDSize:") : NULL;
	uint64_t size = 0;

	if (at != NULL) {
		at += strlen("\nFDSize:");
		if (!parse_u64(&at, 10, &size))
			size = 0;
	}
	free(text);
	return size;
}

/*
 * Returns true when the process may have more than WATCHED_MOST descriptors. Since Linux 6.2 the
 * st_size of /proc/PID/fd is their number. Before 6.2 the size of the descriptor table is used,
 * which cannot be read when the first thread has ended: an unknown number counts as too many.
 */
static bool
has_too_many(const struct descriptors *descriptors)
{
	struct stat st;
	uint64_t count;

	if (fstat(descriptors->fd_dir, &st) == 0 && st.st_size > 0)
		count = (uint64_t)st.st_size;
	else
		count = read_table_size(descriptors);
	return count == 0 || count > WATCHED_MOST;
}

static void
describe_unnamed(struct descriptors *descriptors, int fd, enum descriptor_kind kind,
		 struct strbuf *out)
{
	struct fdinfo info;

	if (kind == DESCRIPTOR_EPOLL && has_too_many(descriptors)) {
		strbuf_add_text(out, "epoll");
		return;
	}
	read_info(descriptors, fd, &info);
	switch (kind) {
	case DESCRIPTOR_TIMERFD:
		fdinfo_add_timer(&info, out);
		break;
	case DESCRIPTOR_SIGNALFD:
		fdinfo_add_signals(&info, out);
		break;
	case DESCRIPTOR_INOTIFY:
		strbuf_add_format(out, "inotify of %zu", info.watches);
		break;
	case DESCRIPTOR_EPOLL:
		add_epoll(descriptors, &info, out);
		break;
	default:
		strbuf_add_text(out, "pidfd");
		if (info.pid > 0) {
			strbuf_add_text(out, " of ");
			holders_add_process((pid_t)info.pid, out);
		}
		break;
	}
}

/* --- any descriptor --------------------------------------------------------------------- */

static bool
describe_kind(struct descriptors *descriptors, int fd, const char *id, enum descriptor_kind kind,
	      struct strbuf *out)
{
	switch (kind) {
	case DESCRIPTOR_GONE:
		return false;
	case DESCRIPTOR_PIPE:
		return describe_pipe(descriptors, fd, id, out);
	case DESCRIPTOR_SOCKET:
		return socket_describe(descriptors, fd, id, out);
	case DESCRIPTOR_FILE:
	case DESCRIPTOR_DIRECTORY:
	case DESCRIPTOR_TERMINAL:
	case DESCRIPTOR_DEVICE:
		if (text_begins(id, "/memfd:"))
			strbuf_add_format(out, "memfd %s", id + strlen("/memfd:"));
		else
			strbuf_add_text(out, id);
		return true;
	case DESCRIPTOR_EVENTFD:
	case DESCRIPTOR_IO_URING:
		return describe_by_id(id, out);
	default:
		if (kind == DESCRIPTOR_OTHER && !text_begins(id, "anon_inode:[pidfd]"))
			return describe_by_id(id, out);
		describe_unnamed(descriptors, fd, kind, out);
		return true;
	}
}

/* --- texts that are kept ---------------------------------------------------------------------- */

static struct described *
find_described(struct descriptors *descriptors, const char *id)
{
	size_t count = strings_count(descriptors->ids);
	uint32_t number;

	if (count >= KNOWN_MOST) {
		descriptors_forget_known(descriptors);
		descriptors->ids = strings_create();
		count = 0;
	}
	number = strings_intern(descriptors->ids, id);
	descriptors->known = xgrow(descriptors->known, &descriptors->known_capacity,
				   (size_t)number + 1, sizeof(*descriptors->known));
	if (number >= count)
		memset(&descriptors->known[number], 0, sizeof(*descriptors->known));
	return &descriptors->known[number];
}

/* Adds the last known text of the descriptor `fd`, which has been closed. Returns false when
 * `known` has no text of a descriptor with this number. */
static bool
add_gone(const struct described *known, int fd, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(known->end); i++) {
		if (known->end[i].text != NULL && known->end[i].fd == fd) {
			strbuf_add_text(out, known->end[i].text);
			return true;
		}
	}
	return false;
}

/*
 * Adds the text of a pipe or socket, cached for a second. When the descriptor was closed its last
 * text is added. The texts of other kinds of descriptors are not cached: their ids are either
 * shared by many descriptors, or already the text. Returns false when there is no text.
 */
static bool
add_remembered(struct descriptors *descriptors, int fd, const char *id, enum descriptor_kind kind,
	       struct strbuf *out)
{
	struct described *known = find_described(descriptors, id);
	const uint64_t now_ns = clock_now_ns();
	const size_t before = out->length;
	char link[LINK_SIZE];
	bool reads, writes;
	size_t end;

	if (kind == DESCRIPTOR_GONE)
		return add_gone(known, fd, out);
	end = descriptor_access(descriptors, fd, &reads, &writes) && writes && !reads;
	if (known->end[end].text != NULL && now_ns - known->end[end].at_ns < NS_PER_SEC) {
		strbuf_add_text(out, known->end[end].text);
		return true;
	}
	/* The descriptor number may have been reused while the text was made. */
	if (describe_kind(descriptors, fd, id, kind, out) &&
	    descriptor_read(descriptors, fd, link) == kind && strcmp(link, id) == 0) {
		free(known->end[end].text);
		known->end[end].text = xstrndup(out->data + before, out->length - before);
		known->end[end].at_ns = now_ns;
		known->end[end].fd = fd;
		return true;
	}
	strbuf_add(out, "", 0);
	out->length = before;
	out->data[before] = '\0';
	return add_gone(known, fd, out);
}

static bool
add_descriptor(struct descriptors *descriptors, int fd, const char *id, bool nested,
	       struct strbuf *out)
{
	char link[LINK_SIZE];
	enum descriptor_kind kind = descriptor_read(descriptors, fd, link);

	if (strcmp(link, id) != 0)
		kind = DESCRIPTOR_GONE;
	if (kind == DESCRIPTOR_EPOLL && nested) {
		strbuf_add_text(out, "epoll");
		return true;
	}
	if (kind == DESCRIPTOR_GONE || kind == DESCRIPTOR_PIPE || kind == DESCRIPTOR_SOCKET)
		return add_remembered(descriptors, fd, id, kind, out);
	return describe_kind(descriptors, fd, id, kind, out);
}

bool
descriptor_describe(struct descriptors *descriptors, int fd, const char *id, struct strbuf *out)
{
	endpoints_expire(descriptors->endpoints);
	return add_descriptor(descriptors, fd, id, false, out);
}
