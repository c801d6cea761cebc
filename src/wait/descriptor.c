/* SPDX-License-Identifier: MIT */
/* descriptor.c - what kind of thing a descriptor of the target is, and what it is called. */
#include "wallsample/wait/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "wait/descriptor_internal.h"

/* Texts that are kept; with more of them it begins anew. */
#define KNOWN_MOST 4096

/* Of a pipe, which has one id, there are two things to say: what the one end is, and the other. */
struct described {
	struct {
		char *text; /* NULL: never said */
		uint64_t at_ns;
		int fd;
	} end[2];
};

/* --- one target -------------------------------------------------------------------- */

static void
open_folders(struct descriptors *descriptors)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

	if (descriptors->fd_dir >= 0)
		close(descriptors->fd_dir);
	if (descriptors->info_dir >= 0)
		close(descriptors->info_dir);
	descriptors->fd_dir = process_open_file(descriptors->process, "fd", flags);
	descriptors->info_dir = process_open_file(descriptors->process, "fdinfo", flags);
}

static bool
is_in_our_network(const struct process *process)
{
	struct stat ours, theirs;

	return stat("/proc/self/ns/net", &ours) == 0 &&
	       fstatat(process->dirfd, "ns/net", &theirs, 0) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

struct descriptors *
descriptors_create(const struct process *process)
{
	struct descriptors *descriptors = xcalloc(1, sizeof(*descriptors));

	descriptors->process = process;
	descriptors->fd_dir = -1;
	descriptors->info_dir = -1;
	descriptors->diag = -1;
	descriptors->same_network = is_in_our_network(process);
	descriptors->ids = strings_create();
	open_folders(descriptors);
	return descriptors;
}

static void
forget_known(struct descriptors *descriptors)
{
	for (size_t i = 0; i < strings_count(descriptors->ids); i++) {
		free(descriptors->known[i].end[0].text);
		free(descriptors->known[i].end[1].text);
	}
	strings_free(descriptors->ids);
	descriptors->ids = NULL;
}

static void
forget_holders(struct descriptors *descriptors)
{
	holders_free(descriptors->holders);
	descriptors->holders = NULL;
}

static void
forget_tables(struct descriptors *descriptors)
{
	net_tables_free(descriptors->tables);
	descriptors->tables = NULL;
}

void
descriptors_free(struct descriptors *descriptors)
{
	if (descriptors == NULL)
		return;
	forget_known(descriptors);
	forget_holders(descriptors);
	forget_tables(descriptors);
	free(descriptors->known);
	if (descriptors->fd_dir >= 0)
		close(descriptors->fd_dir);
	if (descriptors->info_dir >= 0)
		close(descriptors->info_dir);
	if (descriptors->diag >= 0)
		close(descriptors->diag);
	free(descriptors);
}

const struct holders *
descriptors_holders(struct descriptors *descriptors)
{
	if (descriptors->holders == NULL) {
		descriptors->holders_read.at_ns = clock_now_ns();
		descriptors->holders = holders_scan(descriptors->process->pid);
		descriptors->holders_read.took_ns =
			clock_now_ns() - descriptors->holders_read.at_ns;
	}
	return descriptors->holders;
}

const struct net_tables *
descriptors_tables(struct descriptors *descriptors)
{
	if (descriptors->tables == NULL) {
		descriptors->tables_read.at_ns = clock_now_ns();
		descriptors->tables = net_tables_create();
		net_tables_read(descriptors->tables, descriptors->process);
		descriptors->tables_read.took_ns =
			clock_now_ns() - descriptors->tables_read.at_ns;
	}
	return descriptors->tables;
}

static bool
may_read_again(const struct reading *reading)
{
	return clock_now_ns() - reading->at_ns >= 20 * reading->took_ns;
}

bool
descriptors_forget_holders(struct descriptors *descriptors)
{
	if (!may_read_again(&descriptors->holders_read))
		return false;
	forget_holders(descriptors);
	return true;
}

bool
descriptors_forget_tables(struct descriptors *descriptors)
{
	if (!may_read_again(&descriptors->tables_read))
		return false;
	forget_tables(descriptors);
	return true;
}

/* --- kinds --------------------------------------------------------------------------- */

static bool
begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Linux's Documentation/admin-guide/devices.txt: consoles, /dev/tty, pseudo terminals. */
static bool
is_terminal(const char *link, const struct statx *st)
{
	return st->stx_rdev_major == 4 || st->stx_rdev_major == 5 ||
	       (st->stx_rdev_major >= 136 && st->stx_rdev_major <= 143) ||
	       begins_with(link, "/dev/tty") || begins_with(link, "/dev/hvc");
}

/*
 * Of something with a path. What lies on a server that does not answer must not hold us, too:
 * the attributes are those that this machine has.
 */
static enum descriptor_kind
kind_of_path(const struct descriptors *descriptors, const char *name, const char *link)
{
	struct statx st;

	if (statx(descriptors->fd_dir, name, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE,
		  &st) != 0)
		return DESCRIPTOR_FILE;
	switch (st.stx_mode & S_IFMT) {
	case S_IFDIR:
		return DESCRIPTOR_DIRECTORY;
	case S_IFIFO:
		return DESCRIPTOR_PIPE;
	case S_IFCHR:
		return is_terminal(link, &st) ? DESCRIPTOR_TERMINAL : DESCRIPTOR_DEVICE;
	case S_IFBLK:
		return DESCRIPTOR_DEVICE;
	default:
		return DESCRIPTOR_FILE;
	}
}

static enum descriptor_kind
kind_of_link(const struct descriptors *descriptors, const char *name, const char *link)
{
	static const struct {
		const char *link;
		enum descriptor_kind kind;
	} kinds[] = {
		{ "pipe:[", DESCRIPTOR_PIPE },
		{ "socket:[", DESCRIPTOR_SOCKET },
		{ "anon_inode:[eventpoll]", DESCRIPTOR_EPOLL },
		{ "anon_inode:[eventfd]", DESCRIPTOR_EVENTFD },
		{ "anon_inode:[timerfd]", DESCRIPTOR_TIMERFD },
		{ "anon_inode:[signalfd]", DESCRIPTOR_SIGNALFD },
		{ "anon_inode:inotify", DESCRIPTOR_INOTIFY },
		{ "anon_inode:[io_uring]", DESCRIPTOR_IO_URING },
	};

	if (link[0] == '/')
		return kind_of_path(descriptors, name, link);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (begins_with(link, kinds[i].link))
			return kinds[i].kind;
	return DESCRIPTOR_OTHER;
}

/* The link into an array of LINK_SIZE; false: not open, or not ours to look at. */
static bool
read_link(struct descriptors *descriptors, const char *name, char *link)
{
	ssize_t length;

	for (int attempt = 0; attempt < 2; attempt++) {
		/* The thread whose folders these are may have ended before the others. */
		if (attempt > 0)
			open_folders(descriptors);
		if (descriptors->fd_dir < 0)
			continue;
		length = readlinkat(descriptors->fd_dir, name, link, LINK_SIZE - 1);
		if (length > 0) {
			link[length] = '\0';
			return true;
		}
	}
	link[0] = '\0';
	return false;
}

enum descriptor_kind
descriptor_read(struct descriptors *descriptors, int fd, char *link)
{
	char name[16];

	link[0] = '\0';
	snprintf(name, sizeof(name), "%d", fd);
	if (fd < 0 || !read_link(descriptors, name, link))
		return DESCRIPTOR_GONE;
	return kind_of_link(descriptors, name, link);
}

enum descriptor_kind
descriptor_look(struct descriptors *descriptors, int fd, const char **id)
{
	*id = descriptors->id;
	return descriptor_read(descriptors, fd, descriptors->id);
}

/* --- words ----------------------------------------------------------------------------- */

/* How our end is open: see still_holds in holders.c. */
static bool
read_access(const struct descriptors *descriptors, int fd, bool *reads, bool *writes)
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

/* "pipe to sort (1234)", "/tmp/fifo from cat (99)" */
static bool
describe_pipe(struct descriptors *descriptors, int fd, const char *id, struct strbuf *out)
{
	const bool named = id[0] == '/';
	enum holder_access wanted = HOLDER_ANY;
	struct holders_found found;
	bool reads, writes;

	if (!read_access(descriptors, fd, &reads, &writes))
		return false;
	if (!reads || !writes)
		wanted = reads ? HOLDER_WRITES : HOLDER_READS;
	holders_find(descriptors_holders(descriptors), id, wanted, &found);
	if (found.count == 0 && !found.sure && descriptors_forget_holders(descriptors))
		holders_find(descriptors_holders(descriptors), id, wanted, &found);
	/* A fifo can be opened again at any time: of its ends nobody is ever the last. */
	if (found.count == 0 && (named || !found.sure)) {
		if (named)
			strbuf_add_format(out, "fifo %s", id);
		return named;
	}
	strbuf_add_format(out, "%s%s %s ", named ? "fifo " : "pipe", named ? id : "",
			  reads && writes ? "of" : reads ? "from" : "to");
	holders_add_text(&found, out);
	return true;
}

/* "anon_inode:[userfaultfd]" and "anon_inode:inotify", without what is said of all of them. */
static bool
describe_other(const char *id, struct strbuf *out)
{
	size_t length;

	if (!begins_with(id, "anon_inode:"))
		return false;
	id += strlen("anon_inode:");
	id += *id == '[';
	length = strcspn(id, "]");
	strbuf_add(out, id, length);
	return length > 0;
}

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
		if (begins_with(id, "/memfd:"))
			strbuf_add_format(out, "memfd %s", id + strlen("/memfd:"));
		else
			strbuf_add_text(out, id);
		return true;
	case DESCRIPTOR_OTHER:
		if (begins_with(id, "anon_inode:[pidfd]"))
			break;
		return describe_other(id, out);
	default:
		break;
	}
	unnamed_describe(descriptors, fd, kind, out);
	return true;
}

/* --- what was said before ---------------------------------------------------------------- */

static struct described *
find_known(struct descriptors *descriptors, const char *id)
{
	size_t count = strings_count(descriptors->ids);
	uint32_t number;

	if (count >= KNOWN_MOST) {
		forget_known(descriptors);
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

/* What was last said of it under this number. */
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

/* Pipes and sockets: others share their id with all of their kind, or are told by it. */
static bool
add_remembered(struct descriptors *descriptors, int fd, const char *id,
	       enum descriptor_kind kind, struct strbuf *out)
{
	struct described *known = find_known(descriptors, id);
	const uint64_t now_ns = clock_now_ns();
	const size_t before = out->length;
	char link[LINK_SIZE];
	bool reads, writes;
	size_t end;

	if (kind == DESCRIPTOR_GONE)
		return add_gone(known, fd, out);
	end = read_access(descriptors, fd, &reads, &writes) && writes && !reads;
	if (known->end[end].text != NULL && now_ns - known->end[end].at_ns < NS_PER_SEC) {
		strbuf_add_text(out, known->end[end].text);
		return true;
	}
	/* Read again behind it: another descriptor may have got the number meanwhile. */
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

bool
descriptor_add(struct descriptors *descriptors, int fd, const char *id, bool nested,
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
	const uint64_t now_ns = clock_now_ns();

	if (now_ns - descriptors->holders_read.at_ns >= NS_PER_SEC)
		forget_holders(descriptors);
	if (now_ns - descriptors->tables_read.at_ns >= NS_PER_SEC)
		forget_tables(descriptors);
	return descriptor_add(descriptors, fd, id, false, out);
}
