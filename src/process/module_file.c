/* SPDX-License-Identifier: MIT */
/* module_file.c - finds the file behind a mapping and opens it safely; makes modules. */
#include "process/process_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "wallsample/base/file_proxy.h"

/* Most descriptors that are searched for a file; a process may have a million. */
#define DESCRIPTORS_MOST 4096

/* Number of bytes of the mapping's first page, and of its last, that are compared with the file. */
#define COMPARE_SIZE 4096

/*
 * openat2(2), Linux 5.6: include/uapi/linux/openat2.h and the common system call
 * number of all architectures. Defined here because the headers of older systems lack them.
 */
#define NR_OPENAT2 437
#define OPEN_NO_MAGICLINKS UINT64_C(0x02)
#define OPEN_NO_SYMLINKS UINT64_C(0x04)
#define OPEN_IN_ROOT UINT64_C(0x10)

struct open_how_v0 {
	uint64_t flags, mode, resolve;
};

const char *
module_file_why(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "not permitted to open the file";
	case ENOENT:
	case ENOTDIR:
		return "the file is not where the mapping says";
	case EINVAL:
		return "not a regular file";
	case ELOOP:
		return "a symbolic link now stands where the file was";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ESRCH:
		return "the process has gone";
	case ETIMEDOUT:
		return "its file system does not answer";
	default:
		return "the file could not be opened";
	}
}

bool
module_read_memory(const struct process *process, uint64_t address, void *to, size_t size)
{
	const struct iovec local = { to, size };
	const struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(process->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool
same_bytes(const struct process *process, int fd, uint64_t address, uint64_t offset, size_t size)
{
	uint8_t ours[COMPARE_SIZE], theirs[COMPARE_SIZE];
	ssize_t n = pread(fd, ours, size, (off_t)offset);

	/* The last page of a mapping may reach beyond the end of the file: then only the bytes of
	 * the file are compared, if there are at least 64. */
	if (n < (ssize_t)size && n < 64)
		return false;
	return module_read_memory(process, address, theirs, size) &&
	       memcmp(ours, theirs, (size_t)n) == 0;
}

/*
 * Returns true when the first and the last page of the mapping are equal to the file. Two builds of
 * a library may have the same beginning, but practically never also the same end of the code.
 */
static bool
has_mapped_bytes(const struct process *process, int fd, const struct maps_line *line)
{
	uint64_t size = line->end - line->start;
	uint64_t part = size < COMPARE_SIZE ? size : COMPARE_SIZE;
	uint64_t last = size - part;

	return size > 0 && line->offset <= INT64_MAX - size &&
	       same_bytes(process, fd, line->start, line->offset, part) &&
	       same_bytes(process, fd, line->start + last, line->offset + last, part);
}

/*
 * Opens a candidate for the mapped file, `named`, for reading. It is accepted if `is_kernel_link`
 * is set (the descriptor was opened by the kernel's link to the mapped file), or if the file has
 * the device and inode, or the bytes, of the mapping. `named` is a descriptor opened with O_PATH,
 * which this function closes, or -1 with errno set. Returns a descriptor, which the caller closes,
 * or -1 with *why set.
 */
static int
accept_candidate(const struct process *process, const struct maps_line *line, int named,
		 bool is_kernel_link, const char **why)
{
	struct stat st;
	bool same_file;
	int fd;

	if (named < 0) {
		*why = module_file_why(errno);
		return -1;
	}
	same_file = is_kernel_link ||
		    (fstat(named, &st) == 0 && st.st_dev == line->dev && st.st_ino == line->inode);
	fd = file_open_named(named);
	if (fd < 0) {
		*why = module_file_why(errno);
		return -1;
	}
	if (same_file || has_mapped_bytes(process, fd, line))
		return fd;
	*why = "another file now stands where the file was";
	close(fd);
	return -1;
}

static int
name_by_map_files(const struct process *process, const struct maps_line *line)
{
	char name[80];

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, line->start, line->end);
	return process_open_file(process, name, O_PATH | O_CLOEXEC);
}

/* Returns true when the link below `dirfd` has the path of the mapping. */
static bool
links_to_path(int dirfd, const char *link, const struct maps_line *line)
{
	char path[PATH_MAX];
	const ssize_t n = readlinkat(dirfd, link, path, sizeof(path));

	return n > 0 && (size_t)n == strlen(line->path) && memcmp(path, line->path, (size_t)n) == 0;
}

/* Opens the file that a descriptor of the target refers to, with O_PATH, if it has the path, device
 * and inode of the mapping. Returns a descriptor, or -1. */
static int
name_descriptor(int folder, const char *link, const struct maps_line *line)
{
	struct stat st;
	int named;

	if (!links_to_path(folder, link, line))
		return -1;
	named = openat(folder, link, O_PATH | O_CLOEXEC);
	if (named >= 0 && fstat(named, &st) == 0 && st.st_dev == line->dev &&
	    st.st_ino == line->inode)
		return named;
	if (named >= 0)
		close(named);
	return -1;
}

/*
 * Opens the mapped file, with O_PATH, by a descriptor that the target has open: programs that map
 * code from memfd_create(2) often keep the descriptor. Searches the first DESCRIPTORS_MOST entries
 * of /proc/PID/fd. Returns a descriptor, or -1.
 */
static int
name_by_descriptor(const struct process *process, const struct maps_line *line)
{
	const int fd = process_open_file(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *descriptors = fd >= 0 ? fdopendir(fd) : NULL;
	size_t left = DESCRIPTORS_MOST;
	struct dirent *entry;
	int found = -1;

	if (descriptors == NULL) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (found < 0 && left-- > 0 && (entry = readdir(descriptors)) != NULL)
		found = name_descriptor(fd, entry->d_name, line);
	closedir(descriptors);
	return found;
}

int
module_file_name_below(int root, const char *path)
{
	struct open_how_v0 how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = OPEN_IN_ROOT | OPEN_NO_MAGICLINKS | OPEN_NO_SYMLINKS,
	};

	return (int)syscall(NR_OPENAT2, root, path, &how, sizeof(how));
}

/*
 * Opens the mapping's path below the directory `rootfd`, and closes rootfd. The path in maps begins
 * at the root of the target's mount namespace or, for a program in a chroot of wallsample's mount
 * namespace, at wallsample's root. On kernels before 5.6 this fails, and only map_files, exe and fd
 * can be used. Returns a descriptor, or -1 with *why set.
 */
static int
try_below(const struct process *process, const struct maps_line *line, int rootfd, const char **why)
{
	int named;

	if (rootfd < 0) {
		*why = module_file_why(errno);
		return -1;
	}
	named = module_file_name_below(rootfd, line->path);
	close(rootfd);
	return accept_candidate(process, line, named, false, why);
}

bool
module_path_is_deleted(const char *path)
{
	const size_t length = strlen(path), ending = strlen(MODULE_DELETED);

	return length > ending && strcmp(path + length - ending, MODULE_DELETED) == 0;
}

static int
open_file(const struct process *process, const struct maps_line *line, const char **why)
{
	const int root_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	const char *ignored;
	int fd;

	fd = accept_candidate(process, line, name_by_map_files(process, line), true, why);
	if (fd < 0 && links_to_path(process->dirfd, "exe", line))
		fd = accept_candidate(process, line,
				      process_open_file(process, "exe", O_PATH | O_CLOEXEC), false,
				      why);
	if (fd >= 0)
		return fd;
	if (line->path[0] != '/') {
		*why = "not a file with a path";
		return -1;
	}
	if (module_path_is_deleted(line->path)) {
		fd = accept_candidate(process, line, name_by_descriptor(process, line), false,
				      &ignored);
		if (fd >= 0)
			return fd;
		/* A file that has this path now is not the file that the target has mapped. */
		*why = "the file was deleted or replaced, and only /proc/PID/map_files still has "
		       "it, which takes CAP_CHECKPOINT_RESTORE";
		return -1;
	}
	fd = try_below(process, line, process_open_file(process, "root", root_flags), why);
	if (fd < 0)
		fd = try_below(process, line, open("/", root_flags), &ignored);
	return fd;
}

/* --- opening a file in the second process (file_proxy.h) ------------------------------------- */

/* The arguments of open_by_call, and what it finds. */
struct wanted_file {
	pid_t pid;
	struct maps_line line; /* without the path */
	char path[PATH_MAX];
};

struct opened_file {
	struct stat st;
	const char *why;
	bool denied; /* the process may not read the memory of the target */
};

static void
open_by_call(struct file_call *call)
{
	const struct wanted_file *wanted = call->in;
	struct opened_file *opened = call->out;
	struct maps_line line = wanted->line;
	const struct process process = {
		.pid = wanted->pid,
		.dirfd = call->in_fd,
		.taskfd = openat(call->in_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};
	char byte;

	*opened = (struct opened_file){ .why = NULL };
	line.path = wanted->path;
	call->got = sizeof(*opened);
	call->out_fd = open_file(&process, &line, &opened->why);
	if (call->out_fd >= 0 && fstat(call->out_fd, &opened->st) != 0) {
		opened->why = module_file_why(errno);
		close(call->out_fd);
		call->out_fd = -1;
	}
	opened->denied = call->out_fd < 0 &&
			 !module_read_memory(&process, line.start, &byte, sizeof(byte)) &&
			 errno == EPERM;
	if (process.taskfd >= 0)
		close(process.taskfd);
}

int
module_file_open(const struct process *process, const struct maps_line *line,
		 struct file_proxy *proxy, struct stat *st, const char **why)
{
	struct wanted_file wanted = { .pid = process->pid, .line = *line };
	const size_t length = strlen(line->path);
	struct opened_file opened;
	struct file_call call = { .function = open_by_call,
				  .device = line->dev,
				  .in = &wanted,
				  .in_size = sizeof(wanted),
				  .in_fd = process->dirfd,
				  .out = &opened,
				  .out_size = sizeof(opened) };

	if (length >= sizeof(wanted.path)) {
		*why = module_file_why(ENAMETOOLONG);
		return -1;
	}
	memcpy(wanted.path, line->path, length + 1);
	if (!file_proxy_call(proxy, &call)) {
		*why = module_file_why(errno);
		return -1;
	}
	/* With Yama (ptrace_scope 1) only an ancestor of a process may read its memory. wallsample
	 * is an ancestor if it has started the process; the second process is not. */
	if (opened.denied && proxy != NULL)
		(void)file_proxy_call(NULL, &call);
	*why = opened.why;
	*st = opened.st;
	/* The number in maps: later calls must use the same file_call.device. */
	st->st_dev = line->dev;
	/* The kernel drops a descriptor for which this process has no room. */
	if (call.out_fd < 0 && *why == NULL)
		*why = module_file_why(EMFILE);
	return call.out_fd;
}

/* --- modules --------------------------------------------------------------------------------- */

struct module *
module_create(char *path, bool deleted, enum module_kind kind)
{
	struct module *module = xcalloc(1, sizeof(*module));
	const char *slash = strrchr(path, '/');

	module->path = path;
	module->name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
	module->deleted = deleted;
	module->kind = kind;
	return module;
}

void
module_build_id(const struct image *image, char text[MODULE_BUILD_ID_SIZE])
{
	text[0] = '\0';
	for (size_t i = 0; image != NULL && i < image->build_id_size; i++)
		snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
}
