/* SPDX-License-Identifier: MIT */
/* output.c - writes the report to a file that is replaced as a whole, or to a stream. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ascii_internal.h"
#include "cli/cli_internal.h"
#include "cli/pager_internal.h"
#include "cli/signals_internal.h"

/* --- the folder of a file ------------------------------------------------------------ */

/*
 * Flags for opening a folder of an output path. As root, wallsample opens the path component by
 * component, and follows only links that root owns: with -o /tmp/x/report, another user could
 * replace /tmp/x by a link and make root create files anywhere.
 */
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Maximum number of links to follow, as in the kernel (MAXSYMLINKS of namei.h). */
#define LINKS_MOST 40

/* The opening of a folder component by component, by open_as_root. */
struct walk {
	int fd;           /* descriptor of the folder reached so far */
	char *rest;       /* the part of the path behind that folder */
	unsigned links;   /* number of links followed */
	const char *path; /* the whole path, for messages */
};

static int
folder_refuse(const char *path, const char *what, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write to %s: %s", path, what);
}

/*
 * Moves to the root directory if walk->rest is absolute. Returns false with errno set on failure.
 */
static bool
move_to_start(struct walk *walk)
{
	int fd = walk->rest[0] == '/' ? open("/", FOLDER_FLAGS) : walk->fd;

	if (fd != walk->fd && walk->fd >= 0)
		close(walk->fd);
	walk->fd = fd;
	return fd >= 0;
}

/*
 * Replaces walk->rest by the target of the link `name`, followed by `behind`, the path behind
 * `name`.
 */
static int
follow_link(struct walk *walk, int link, const char *name, const char *behind, struct error *err)
{
	char target[PATH_MAX];
	struct strbuf rest = STRBUF_INIT;
	struct stat info;
	ssize_t length;

	if (fstat(link, &info) != 0)
		return folder_refuse(walk->path, strerror(errno), err);
	if (info.st_uid != 0)
		return error_set(err, ERROR_OUTPUT,
				 "cannot write to %s: '%s' in it is a symbolic link that does not "
				 "belong to root, and root should not follow it; name the folder "
				 "that it points to",
				 walk->path, name);
	if (++walk->links > LINKS_MOST)
		return folder_refuse(walk->path, strerror(ELOOP), err);
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length < 0)
		return folder_refuse(walk->path, strerror(errno), err);
	strbuf_add(&rest, target, (size_t)length);
	strbuf_add_format(&rest, "/%s", behind);
	free(walk->rest);
	walk->rest = rest.data;
	return move_to_start(walk) ? 0 : folder_refuse(walk->path, strerror(errno), err);
}

/* Opens the first component of walk->rest: a folder, or a link, which it follows. */
static int
walk_step(struct walk *walk, struct error *err)
{
	char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");
	char *name = xstrndup(start, length), *behind = xstrdup(start + length);
	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	int rc = 0;

	if (fd < 0 || fstat(fd, &info) != 0) {
		rc = folder_refuse(walk->path, strerror(errno), err);
	} else if (S_ISLNK(info.st_mode)) {
		rc = follow_link(walk, fd, name, behind, err);
	} else if (!S_ISDIR(info.st_mode)) {
		rc = folder_refuse(walk->path, strerror(ENOTDIR), err);
	} else {
		close(walk->fd);
		walk->fd = fd;
		fd = -1;
		free(walk->rest);
		walk->rest = behind;
		behind = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(name);
	free(behind);
	return rc;
}

static int
open_as_root(const char *folder, const char *path, struct error *err)
{
	struct walk walk = { open(".", FOLDER_FLAGS), xstrdup(folder), 0, path };
	int rc = 0;

	if (walk.fd < 0 || !move_to_start(&walk))
		rc = folder_refuse(path, strerror(errno), err);
	while (rc == 0 && walk.rest[strspn(walk.rest, "/")] != '\0')
		rc = walk_step(&walk, err);
	free(walk.rest);
	if (rc == 0)
		return walk.fd;
	if (walk.fd >= 0)
		close(walk.fd);
	return rc;
}

int
output_folder_open(const char *path, char **base, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL ? xstrdup(".") : xstrndup(path, (size_t)(slash + 1 - path));
	int fd;

	*base = xstrdup(slash != NULL ? slash + 1 : path);
	if (geteuid() == 0)
		fd = open_as_root(folder, path, err);
	else if ((fd = open(folder, FOLDER_FLAGS)) < 0)
		fd = folder_refuse(path, strerror(errno), err);
	free(folder);
	return fd;
}

/* --- the output ---------------------------------------------------------------------- */

/* Most names that are tried for a temporary file; each name is random. */
#define TEMPORARY_TRIES 8

/* A larger value of $COLUMNS is ignored. */
#define COLUMNS_MOST 10000

static int
output_refuse(const struct output *output, const char *what, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write to %s: %s",
			 output->path != NULL ? output->path : "stdout", what);
}

/*
 * Creates a file in the folder of the output and stores the name of the file. Returns a descriptor
 * of the file, or -1 with errno set.
 */
static int
create_temporary(const struct output *output, char *name, size_t size)
{
	int fd = -1;

	for (int i = 0; i < TEMPORARY_TRIES && fd < 0; i++) {
		unsigned random = 0;

		(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
		snprintf(name, size, ".wallsample-%d-%08x", (int)getpid(), random);
		fd = openat(output->dirfd, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    output->is_private ? 0600 : 0644);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

/*
 * Creates and removes a file in the folder of the output, to check that output_write can do this
 * later.
 */
static int
try_file(const struct output *output, struct error *err)
{
	char name[64];
	int fd = create_temporary(output, name, sizeof(name));

	if (fd < 0)
		return output_refuse(output, strerror(errno), err);
	close(fd);
	(void)unlinkat(output->dirfd, name, 0);
	return 0;
}

/* Opens a pipe or device. Opening a named pipe waits until it has a reader or a signal arrives. */
static int
open_stream(struct output *output, mode_t type, struct error *err)
{
	struct stat info;

	do
		output->fd = openat(output->dirfd, output->base,
				    O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	while (output->fd < 0 && errno == EINTR && signals_stop == 0);
	if (output->fd < 0)
		return output_refuse(output, strerror(errno), err);
	/* The file may have been replaced since fstatat. */
	if (fstat(output->fd, &info) != 0 || (info.st_mode & S_IFMT) != type)
		return output_refuse(output, "it changed while it was opened", err);
	return 0;
}

static int
open_named(struct output *output, struct error *err)
{
	struct stat info;

	output->dirfd = output_folder_open(output->path, &output->base, err);
	if (output->dirfd < 0)
		return output->dirfd;
	if (output->base[0] == '\0')
		return output_refuse(output, strerror(EISDIR), err);
	if (fstatat(output->dirfd, output->base, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? try_file(output, err) :
					 output_refuse(output, strerror(errno), err);
	switch (info.st_mode & S_IFMT) {
	case S_IFREG:
		return try_file(output, err);
	case S_IFIFO:
	case S_IFCHR:
		return open_stream(output, info.st_mode & S_IFMT, err);
	case S_IFDIR:
		return output_refuse(output, strerror(EISDIR), err);
	case S_IFLNK:
		return output_refuse(output, "it is a symbolic link; name what it points to", err);
	default:
		return output_refuse(output, "it is no file, no pipe and no character device", err);
	}
}

/*
 * Returns the descriptor of this process that `path` names: stdout for NULL and "-", or a path such
 * as "/dev/fd/63", which a shell makes of >(…); -1 for other paths. Such a path is not opened as a
 * file: the link in /proc behind it may lead to a pipe, which has no path.
 */
static int
own_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t number;

	if (path == NULL || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t length = strlen(folders[i]);

		if (strncmp(path, folders[i], length) == 0 &&
		    parse_whole_u64(path + length, 0, INT32_MAX, &number))
			return (int)number;
	}
	return -1;
}

static int
open_own(struct output *output, int own, struct error *err)
{
	int flags = fcntl(own, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return output_refuse(output, "it is not open for writing", err);
	output->fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
	return output->fd >= 0 ? 0 : output_refuse(output, strerror(errno), err);
}

int
output_open(struct output *output, const char *path, struct error *err)
{
	int own = own_descriptor(path), rc;

	*output = (struct output){ .fd = -1, .dirfd = -1 };
	if (own != STDOUT_FILENO)
		output->path = xstrdup(path);
	rc = own < 0 ? open_named(output, err) : open_own(output, own, err);
	if (rc != 0)
		output_close(output);
	return rc;
}

/* The cookie of a stream that keeps the errno of a failed write; stdio keeps only a flag. */
struct sink {
	int fd;
	int number; /* errno of the first failed write; 0: none failed */
	bool ascii; /* the text is written through the filter */
	struct ascii_filter filter;
	struct strbuf *text; /* gets the text in place of the descriptor; NULL: none */
};

static void
sink_put(struct sink *sink, const char *text, size_t length)
{
	if (sink->text != NULL)
		strbuf_add(sink->text, text, length);
	else if (sink->number == 0 && !file_write_all(sink->fd, text, length))
		sink->number = errno;
}

static ssize_t
sink_write(void *cookie, const char *text, size_t length)
{
	struct sink *sink = cookie;
	struct strbuf ascii = STRBUF_INIT;

	strbuf_add_text(&ascii, "");
	if (sink->ascii)
		ascii_add(&sink->filter, text, length, &ascii);
	sink_put(sink, sink->ascii ? ascii.data : text, sink->ascii ? ascii.length : length);
	strbuf_release(&ascii);
	return sink->number == 0 ? (ssize_t)length : 0;
}

/* Calls `write` with a stream to the descriptor; sink->number records a failed write. */
static int
fill(struct sink *sink, int (*write)(void *context, FILE *out, struct error *err), void *context,
     struct error *err)
{
	const cookie_io_functions_t functions = { .write = sink_write };
	FILE *out = fopencookie(sink, "w", functions);
	struct strbuf rest = STRBUF_INIT;
	int rc;

	if (out == NULL)
		return error_set(err, ERROR_SYSTEM, "cannot make the report: %s", strerror(errno));
	rc = write(context, out, err);
	(void)fclose(out);
	ascii_end(&sink->filter, &rest);
	if (rest.length > 0)
		sink_put(sink, rest.data, rest.length);
	strbuf_release(&rest);
	return rc;
}

static int
replace_file(const struct output *output, int (*write)(void *context, FILE *out, struct error *err),
	     void *context, struct error *err)
{
	char name[64];
	struct sink sink = { .fd = create_temporary(output, name, sizeof(name)) };
	int rc;

	if (sink.fd < 0)
		return output_refuse(output, strerror(errno), err);
	rc = fill(&sink, write, context, err);
	/* Some file systems report a full disk only when the file is closed. */
	if (close(sink.fd) != 0 && sink.number == 0)
		sink.number = errno;
	if (rc == 0 && sink.number == 0 &&
	    renameat(output->dirfd, name, output->dirfd, output->base) == 0)
		return 0;
	if (rc == 0)
		rc = output_refuse(output, strerror(sink.number != 0 ? sink.number : errno), err);
	(void)unlinkat(output->dirfd, name, 0);
	return rc;
}

int
output_write(const struct output *output, bool pages,
	     int (*write)(void *context, FILE *out, struct error *err), void *context,
	     struct error *err)
{
	const bool terminal = output->fd >= 0 && isatty(output->fd) == 1;
	struct strbuf text = STRBUF_INIT;
	struct sink sink = { .fd = output->fd };
	int rc;

	if (output->fd < 0)
		return replace_file(output, write, context, err);
	/* Files and pipes get UTF-8 in any locale: their readers may have another locale. */
	sink.ascii = terminal && !ascii_locale_is_utf8();
	sink.text = terminal && pages && output->path == NULL ? &text : NULL;
	rc = fill(&sink, write, context, err);
	if (text.length > 0 && !pager_show(text.data, text.length, output->fd) &&
	    !file_write_all(output->fd, text.data, text.length))
		sink.number = errno;
	strbuf_release(&text);
	return rc == 0 && sink.number != 0 ? output_refuse(output, strerror(sink.number), err) : rc;
}

void
output_close(struct output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	if (output->dirfd >= 0)
		close(output->dirfd);
	free(output->base);
	free(output->path);
	*output = (struct output){ .fd = -1, .dirfd = -1 };
}

int
output_check_format(const struct output *output, const struct exporter *exporter, struct error *err)
{
	if (!exporter->binary || output->fd < 0 || isatty(output->fd) != 1)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "-f %s is binary and not written to a terminal: name a file with -o",
			 exporter->name);
}

unsigned
output_columns(const struct output *output)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns;

	if (output->fd >= 0 && ioctl(output->fd, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	if (wanted != NULL && parse_whole_u64(wanted, 1, COLUMNS_MOST, &columns))
		return (unsigned)columns;
	return 0;
}

bool
output_shows_colours(const struct output *output)
{
	const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return output->fd >= 0 && isatty(output->fd) == 1 &&
	       (refused == NULL || refused[0] == '\0') &&
	       (terminal == NULL || strcmp(terminal, "dumb") != 0);
}
