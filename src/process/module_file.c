/* SPDX-License-Identifier: MIT */
/*
 * module_file.c - finds the file behind a mapping and opens it safely.
 */
#include "process/module_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* Number of descriptors that are searched for one file; a process may have a million. */
#define DESCRIPTORS_MOST 4096

/* Bytes of the mapping's first and last page that are compared with the file. */
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

/* The reason for an error number, a fixed text; see module_internal.h. */
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
	default:
		return "the file could not be opened";
	}
}

static bool
same_bytes(const struct process *process, int fd, uint64_t address, uint64_t offset, size_t size)
{
	uint8_t ours[COMPARE_SIZE], theirs[COMPARE_SIZE];
	struct iovec local = { theirs, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	ssize_t n = pread(fd, ours, size, (off_t)offset);

	/* The last page of a mapping may reach beyond the end of the file. */
	if (n < (ssize_t)size && n < 64)
		return false;
	if (process_vm_readv(process->pid, &local, 1, &remote, 1, 0) != (ssize_t)size)
		return false;
	return memcmp(ours, theirs, (size_t)n) == 0;
}

/*
 * Two builds of a library may have the same beginning, but practically never also the same end of
 * the code.
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

enum trust {
	TRUST_KERNEL, /* the kernel's link to the mapped file itself */
	TRUST_NOTHING,
};

/* Checks a candidate and opens it for reading; a descriptor, or -1. */
static int
accept_candidate(const struct process *process, const struct maps_line *line, int named,
		 enum trust trust, const char **why)
{
	struct stat st;
	bool same_file;
	int fd;

	if (named < 0) {
		*why = module_file_why(errno);
		return -1;
	}
	same_file = trust == TRUST_KERNEL ||
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

/* Is the mapping, judged by its path, one of the file that /proc/PID/exe links to? */
static bool
is_executable(const struct process *process, const struct maps_line *line)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(process->dirfd, "exe", path, sizeof(path));

	return n > 0 && (size_t)n == strlen(line->path) && memcmp(path, line->path, (size_t)n) == 0;
}

/* Opens the file of a descriptor's link if it has the mapping's path and is its file. */
static int
name_descriptor(int folder, const char *link, const struct maps_line *line)
{
	char path[PATH_MAX];
	const ssize_t n = readlinkat(folder, link, path, sizeof(path));
	struct stat st;
	int named;

	if (n <= 0 || (size_t)n != strlen(line->path) || memcmp(path, line->path, (size_t)n) != 0)
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
 * The target's own descriptor of the file: programs that map code from memfd_create(2)
 * often keep it.
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
 * Opens the path below `root`. The path in maps is that of the target's mount namespace or, for a
 * program in a chroot of wallsample's namespace, that of wallsample. Fails on kernels before 5.6,
 * where map_files and exe remain.
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
	return accept_candidate(process, line, named, TRUST_NOTHING, why);
}

static bool
is_deleted(const char *path)
{
	static const char ending[] = " (deleted)";
	size_t length = strlen(path);

	return length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

int
module_file_open(const struct process *process, const struct maps_line *line, const char **why)
{
	const int root_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	const char *ignored;
	int fd;

	fd = accept_candidate(process, line, name_by_map_files(process, line), TRUST_KERNEL, why);
	if (fd < 0 && is_executable(process, line))
		fd = accept_candidate(process, line,
				      process_open_file(process, "exe", O_PATH | O_CLOEXEC),
				      TRUST_NOTHING, why);
	if (fd >= 0)
		return fd;
	if (line->path[0] != '/') {
		*why = "not a file with a path";
		return -1;
	}
	if (is_deleted(line->path)) {
		fd = accept_candidate(process, line, name_by_descriptor(process, line),
				      TRUST_NOTHING, &ignored);
		if (fd >= 0)
			return fd;
		/* The file at that path is not the one that the target has mapped. */
		*why = "the file was deleted or replaced, and only /proc/PID/map_files still has "
		       "it, which takes CAP_CHECKPOINT_RESTORE";
		return -1;
	}
	fd = try_below(process, line, process_open_file(process, "root", root_flags), why);
	if (fd < 0)
		fd = try_below(process, line, open("/", root_flags), &ignored);
	return fd;
}
