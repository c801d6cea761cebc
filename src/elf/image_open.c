/* SPDX-License-Identifier: MIT */
/* image_open.c - opens ELF files: reads headers, segments and build-id. */
#include "elf/image_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* Largest size of a file in bytes: a sparse file can have any size. */
#define IMAGE_MAX_SIZE (UINT64_C(64) << 30)

/*
 * Adds the segment of a program header, unless it is empty. Returns false when the image already
 * has IMAGE_MAX_SEGMENTS segments, or the header is malformed (no loader would have mapped such a
 * file).
 */
static bool
add_segment(struct image *image, const Elf64_Phdr *ph)
{
	struct image_segment *segment;

	if (ph->p_memsz == 0)
		return true;
	if (image->segment_count == IMAGE_MAX_SEGMENTS || ph->p_filesz > ph->p_memsz ||
	    ph->p_vaddr + ph->p_memsz < ph->p_vaddr || ph->p_offset + ph->p_filesz < ph->p_offset)
		return false;
	segment = &image->segment[image->segment_count];
	segment->vaddr = ph->p_vaddr;
	segment->offset = ph->p_offset;
	segment->file_size = ph->p_filesz;
	segment->mem_size = ph->p_memsz;
	segment->executable = ph->p_flags & PF_X;
	segment->writable = ph->p_flags & PF_W;
	if (image->segment_count == 0 || segment->vaddr < image->low)
		image->low = segment->vaddr;
	if (image->segment_count == 0 || segment->vaddr + segment->mem_size > image->high)
		image->high = segment->vaddr + segment->mem_size;
	image->segment_count++;
	return true;
}

static bool
read_program_headers(struct image *image, const Elf64_Ehdr *eh)
{
	/* The type of e_phnum bounds the loop: at most 65,535 headers. */
	for (uint64_t i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		if (!image_read_offset(image, eh->e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			return false;
		if (ph.p_type == PT_LOAD && !add_segment(image, &ph))
			return false;
		if (ph.p_type == PT_GNU_EH_FRAME) {
			image->eh_frame_hdr = ph.p_vaddr;
			image->eh_frame_hdr_size = ph.p_filesz;
		}
	}
	return image->segment_count > 0;
}

static bool
read_headers(struct image *image)
{
	Elf64_Ehdr eh;

	if (!image_read_offset(image, 0, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_ident[EI_VERSION] != EV_CURRENT)
		return false;
	if ((eh.e_type != ET_EXEC && eh.e_type != ET_DYN) || eh.e_phentsize != sizeof(Elf64_Phdr) ||
	    eh.e_phoff > image->size)
		return false;
	image->machine = eh.e_machine;
	image->fixed_address = eh.e_type == ET_EXEC;
	return read_program_headers(image, &eh);
}

static void
read_build_id(struct image *image)
{
	uint64_t at, size;

	if (image_find_note(image, "GNU", NT_GNU_BUILD_ID, &at, &size) &&
	    size <= IMAGE_BUILD_ID_MAX && image_read_offset(image, at, image->build_id, size))
		image->build_id_size = size;
}

static struct image *
image_or_null(struct image *image)
{
	int error;

	errno = 0;
	if (!read_headers(image)) {
		error = errno;
		image_free(image);
		errno = error;
		return NULL;
	}
	read_build_id(image);
	return image;
}

static int64_t
written_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * (int64_t)NS_PER_SEC + st->st_mtim.tv_nsec;
}

struct image *
image_open_file(int fd, const struct stat *st, struct file_proxy *proxy, struct image_cache *cache)
{
	struct image *image;

	if (!S_ISREG(st->st_mode) || st->st_size < (off_t)sizeof(Elf64_Ehdr) ||
	    (uint64_t)st->st_size > IMAGE_MAX_SIZE) {
		close(fd);
		errno = 0;
		return NULL;
	}
	image = image_create(fd, (uint64_t)st->st_size, NULL, cache);
	image_set_proxy(image, proxy, st->st_dev);
	image->written_ns = written_ns(st);
	return image_or_null(image);
}

struct image *
image_open_fd(int fd, struct image_cache *cache)
{
	struct stat st;

	if (fstat(fd, &st) == 0)
		return image_open_file(fd, &st, NULL, cache);
	if (fd >= 0)
		close(fd);
	return NULL;
}

struct image *
image_take_memory(void *bytes, size_t size)
{
	struct image *image;

	if (size < sizeof(Elf64_Ehdr) || size > IMAGE_MAX_SIZE) {
		free(bytes);
		return NULL;
	}
	image = image_create(-1, size, bytes, NULL);
	return image_or_null(image);
}

struct image *
image_open_memory(const void *bytes, size_t size)
{
	void *copy;

	if (size < sizeof(Elf64_Ehdr) || size > IMAGE_MAX_SIZE)
		return NULL;
	copy = xmalloc(size);
	memcpy(copy, bytes, size);
	return image_take_memory(copy, size);
}

bool
image_is_unchanged(const struct image *image)
{
	const struct image_file *file = &image->blocks->file;
	struct image *now;
	struct stat st;
	bool same;
	int fd;

	if (image_memory(image) != NULL)
		return true;
	if (file_proxy_stat(file->proxy, file->device, file->fd, &st) != 0)
		return false;
	if ((uint64_t)st.st_size == image->size && written_ns(&st) == image->written_ns)
		return true;
	fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	now = fd >= 0 ? image_open_file(fd, &st, file->proxy, NULL) : NULL;
	same = now && now->build_id_size > 0 && now->build_id_size == image->build_id_size &&
	       memcmp(now->build_id, image->build_id, now->build_id_size) == 0;
	image_free(now);
	return same;
}
