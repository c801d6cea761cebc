/* SPDX-License-Identifier: MIT */
/*
 * jit_file.c - opens files that the target has written, by their paths in the target.
 *
 * No file is trusted: the directory is often /tmp, where any user can create a pipe, a link, or a
 * file whose name contains the pid of a later process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/jit_source_internal.h"
#include "wallsample/base/file_proxy.h"

/* openat2(2), which exists since Linux 5.6, as include/uapi/linux/openat2.h defines it. Its system
 * call number is the same on x86-64 and AArch64. The headers of older systems do not have these
 * definitions. */
#define NR_OPENAT2 437
#define OPEN_NO_MAGICLINKS UINT64_C(0x02)
#define OPEN_IN_ROOT UINT64_C(0x10)

struct open_how_v0 {
	uint64_t flags, mode, resolve;
};

/* Stands for the file systems of folders and files that are opened, in file_call.device. No file
 * system has this number: a dev_t of Linux has 32 bits. */
#define FOLDERS UINT64_MAX

/* Reads up to `wanted` numbers of the field in the text of /proc/PID/status, and stores the last
 * number read. Returns false when the field does not exist, or has no number. */
static bool
read_status(const char *status, const char *field, unsigned wanted, uint64_t *value)
{
	const char *at = strstr(status, field);
	uint64_t number;
	unsigned count = 0;

	if (at == NULL)
		return false;
	at += strlen(field);
	while (count < wanted && *at == '\t' && parse_u64(&at, 10, &number)) {
		*value = number;
		count++;
	}
	return count > 0;
}

void
jit_target_update(struct jit_target *target)
{
	int root = process_open_file(target->process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *status = file_read_text(target->process->dirfd, "status", 65536, NULL);
	uint64_t value;

	/* A root directory is used only together with the user id that was read with it. */
	if (status == NULL) {
		if (root >= 0)
			close(root);
		return;
	}
	if (root >= 0) {
		if (target->root >= 0)
			close(target->root);
		target->root = root;
	}
	/* NSpid: the process ids in nested pid namespaces, the outermost first. */
	if (read_status(status, "\nNSpid:", UINT32_MAX, &value))
		target->ns_pid = (uint32_t)value;
	/* Uid: the real, effective, saved and file system user id. */
	if (read_status(status, "\nUid:", 2, &value))
		target->uid = (uid_t)value;
	free(status);
}

static const char *
text_of_errno(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case ENOSYS: /* the kernel does not have openat2(2); EPERM: a seccomp filter forbids it */
	case EPERM:
		return NULL;
	case EACCES:
		return "not permitted to open it";
	case EINVAL:
		return "it is not a regular file";
	case ELOOP:
		return "it is a symbolic link";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ETIMEDOUT:
		return "its file system does not answer";
	default:
		return "it could not be opened";
	}
}

const char *
jit_owner_refusal(const struct stat *st, uid_t target, uid_t own)
{
	if (st->st_uid == target)
		return NULL;
	if (st->st_uid != 0 && st->st_uid != own)
		return "it belongs to another user";
	return (st->st_mode & S_IROTH) != 0 ?
		       NULL :
		       "it belongs to another user than the process, and not everyone may read it";
}

/* Opens the file of the O_PATH descriptor `named` for reading, and closes `named`; `uid` is the
 * user of the target. Returns the new descriptor, and stores the file's properties; or -1 with the
 * reason in *why (see text_of_errno) when the file is not accepted, or `named` is -1; then errno
 * must be set. */
static int
accept_named(uid_t uid, int named, struct stat *st, const char **why)
{
	int fd;

	*why = NULL;
	if (named < 0 || fstat(named, st) != 0) {
		*why = text_of_errno(errno);
		if (named >= 0)
			close(named);
		return -1;
	}
	/* file_open_named refuses what is no regular file. */
	if (S_ISREG(st->st_mode))
		*why = jit_owner_refusal(st, uid, geteuid());
	if (*why != NULL) {
		close(named);
		return -1;
	}
	fd = file_open_named(named);
	*why = fd < 0 ? text_of_errno(errno) : NULL;
	return fd;
}

/* Opens a path with O_PATH below the root directory. Symbolic links among its directories (such as
 * /tmp to /var/tmp) are followed as in the target, and never lead out of the root; if the file
 * itself is a link, the link is opened. Always fails on kernels before 5.6. */
static int
open_below_root(int root, const char *path)
{
	struct open_how_v0 how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = OPEN_IN_ROOT | OPEN_NO_MAGICLINKS,
	};

	return (int)syscall(NR_OPENAT2, root, path, &how, sizeof(how));
}

/* The arguments of open_by_call, and what it finds. */
struct wanted_file {
	uid_t uid;
	bool mapped; /* the path is that of a link in map_files, below /proc/PID */
	char path[PATH_MAX];
};

struct opened_file {
	struct stat st;
	const char *why;
};

static void
open_by_call(struct file_call *call)
{
	const struct wanted_file *wanted = call->in;
	struct opened_file *opened = call->out;
	struct process process = { .dirfd = call->in_fd, .taskfd = -1 };
	int named;

	*opened = (struct opened_file){ .why = NULL };
	call->got = sizeof(*opened);
	if (wanted->mapped) {
		process.taskfd = openat(call->in_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		named = process_open_file(&process, wanted->path, O_PATH | O_CLOEXEC);
	} else {
		named = open_below_root(call->in_fd, wanted->path);
	}
	/* Without CAP_CHECKPOINT_RESTORE links in map_files cannot be opened: the caller then opens
	 * the path of the module. */
	if (named >= 0 || !wanted->mapped)
		call->out_fd = accept_named(wanted->uid, named, &opened->st, &opened->why);
	if (process.taskfd >= 0)
		close(process.taskfd);
}

/* Opens the path, below `dirfd`; the other parameters and the result are those of
 * jit_file_open(). */
static int
open_path(const struct jit_target *target, int dirfd, bool mapped, const char *path,
	  struct stat *st, const char **why)
{
	struct wanted_file wanted = { .uid = target->uid, .mapped = mapped };
	const size_t length = strlen(path);
	struct opened_file opened;
	struct file_call call = { .function = open_by_call,
				  .device = FOLDERS,
				  .in = &wanted,
				  .in_size = sizeof(wanted),
				  .in_fd = dirfd,
				  .out = &opened,
				  .out_size = sizeof(opened) };

	if (length >= sizeof(wanted.path)) {
		*why = text_of_errno(ENAMETOOLONG);
		return -1;
	}
	memcpy(wanted.path, path, length + 1);
	if (!file_proxy_call(jit_target_proxy(target), &call)) {
		*why = text_of_errno(errno);
		return -1;
	}
	*why = opened.why;
	*st = opened.st;
	return call.out_fd;
}

struct file_proxy *
jit_target_proxy(const struct jit_target *target)
{
	return modules_proxy(maps_modules(target->maps));
}

int
jit_file_open(const struct jit_target *target, const char *path, struct stat *st, const char **why)
{
	*why = NULL;
	return target->root < 0 ? -1 : open_path(target, target->root, false, path, st, why);
}

int
jit_file_open_mapped(const struct jit_target *target, const struct mapping *mapping,
		     struct stat *st, const char **why)
{
	const struct module *module = modules_at(maps_modules(target->maps), mapping->module);
	char name[80];
	int fd;

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	fd = open_path(target, target->process->dirfd, true, name, st, why);
	if (fd >= 0 || *why != NULL)
		return fd;
	if (module->deleted) {
		*why = "it was removed, and only /proc/PID/map_files still has it, which takes "
		       "CAP_CHECKPOINT_RESTORE";
		return -1;
	}
	fd = jit_file_open(target, module->path, st, why);
	/* Device numbers are not compared: on btrfs, that of a mapping differs from that of the
	 * mapped file. */
	if (fd >= 0 && st->st_ino != module->inode) {
		*why = "another file now stands where it was";
		close(fd);
		return -1;
	}
	if (fd < 0 && *why == NULL)
		*why = "it is not where the mapping says";
	return fd;
}
