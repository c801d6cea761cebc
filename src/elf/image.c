/* SPDX-License-Identifier: MIT */
/*
 * image.c - reads ELF files block by block, and checks offsets and sizes from a file before it uses
 * them.
 */
#include "wallsample/elf/image.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/base.h"

#define BLOCK_SHIFT 16
#define BLOCK_SIZE (UINT64_C(1) << BLOCK_SHIFT)

/* Largest size of a file in bytes. It bounds the table of blocks, which has an entry for every
 * block of the file: a sparse file can have any size. */
#define IMAGE_MAX_SIZE (UINT64_C(64) << 30)

struct image_block {
	uint8_t *bytes; /* NULL until the block was read */
	/* Number of bytes read: less than BLOCK_SIZE at the end of the file, or if the file has
	 * shrunk. */
	uint32_t length;
	bool tried; /* the block was read, or could not be read */
};

struct image_blocks {
	uint8_t *memory; /* all bytes of an image in memory, which has no blocks; else NULL */
	/* Index of the segment that the last read used. It is checked first, because the unwinder
	 * reads one segment word by word. */
	size_t last_segment;
	struct image_block block[]; /* all blocks of the file */
};

static const struct image_block *
load_block(const struct image *image, struct image_block *block, uint64_t index)
{
	uint64_t offset = index << BLOCK_SHIFT;
	uint64_t want = image->size - offset;

	if (want > BLOCK_SIZE)
		want = BLOCK_SIZE;
	block->tried = true;
	block->bytes = xmalloc(want);
	block->length = (uint32_t)file_read_at(image->fd, offset, block->bytes, want);
	return block;
}

static bool
read_blocks(const struct image *image, uint64_t offset, uint8_t *to, size_t size)
{
	while (size > 0) {
		uint64_t index = offset >> BLOCK_SHIFT;
		uint64_t within = offset & (BLOCK_SIZE - 1);
		const struct image_block *block = &image->blocks->block[index];
		size_t part;

		if (!block->tried)
			block = load_block(image, &image->blocks->block[index], index);
		if (within >= block->length)
			return false;
		part = block->length - within;
		if (part > size)
			part = size;
		memcpy(to, block->bytes + within, part);
		to += part;
		offset += part;
		size -= part;
	}
	return true;
}

/* Reads a range that the fast path of image_read_offset does not cover: one in memory, in several
 * blocks, or in a block that was not read yet. */
static bool
read_slowly(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (image->blocks->memory) {
		memcpy(to, image->blocks->memory + offset, size);
		return true;
	}
	/* Large reads, such as that of a symbol table, happen once, so their bytes are not kept. */
	if (size >= BLOCK_SIZE)
		return file_read_at(image->fd, offset, to, size) == size;
	return read_blocks(image, offset, to, size);
}

bool
image_read_offset(const struct image *image, uint64_t offset, void *to, size_t size)
{
	uint64_t within = offset & (BLOCK_SIZE - 1);
	const struct image_block *block;

	if (offset > image->size || size > image->size - offset)
		return false;
	if (size == 0)
		return true;
	if (image->blocks->memory)
		return read_slowly(image, offset, to, size);

	/* The fast path, taken for every word of .eh_frame that the unwinder reads. */
	block = &image->blocks->block[offset >> BLOCK_SHIFT];
	if (block->length < within || size > block->length - within)
		return read_slowly(image, offset, to, size);
	if (size == 1)
		*(uint8_t *)to = block->bytes[within];
	else if (size == 8)
		memcpy(to, block->bytes + within, 8);
	else
		memcpy(to, block->bytes + within, size);
	return true;
}

static bool
segment_holds(const struct image_segment *segment, uint64_t vaddr, size_t size)
{
	uint64_t within = vaddr - segment->vaddr;

	return vaddr >= segment->vaddr && within <= segment->file_size &&
	       size <= segment->file_size - within && !segment->writable;
}

/* Reads a range that the segment contains; false when it cannot be read. */
static bool
read_segment(const struct image *image, const struct image_segment *segment, uint64_t vaddr,
	     void *to, size_t size)
{
	return image_read_offset(image, segment->offset + (vaddr - segment->vaddr), to, size);
}

bool
image_read_vaddr(const struct image *image, uint64_t vaddr, void *to, size_t size)
{
	const struct image_segment *segment = &image->segment[image->blocks->last_segment];

	if (segment_holds(segment, vaddr, size))
		return read_segment(image, segment, vaddr, to, size);
	for (size_t i = 0; i < image->segment_count; i++) {
		segment = &image->segment[i];
		if (!segment_holds(segment, vaddr, size))
			continue;
		image->blocks->last_segment = i;
		return read_segment(image, segment, vaddr, to, size);
	}
	return false;
}

const uint8_t *
image_view(const struct image *image, uint64_t vaddr, size_t *size)
{
	struct image_blocks *blocks = image->blocks;
	const struct image_segment *segment;
	uint64_t offset, within;
	uint8_t first;

	/* Reads the block, and sets last_segment. */
	if (!image_read_vaddr(image, vaddr, &first, 1))
		return NULL;
	segment = &image->segment[blocks->last_segment];
	offset = segment->offset + (vaddr - segment->vaddr);
	*size = segment->file_size - (vaddr - segment->vaddr);
	if (blocks->memory != NULL)
		return blocks->memory + offset;
	within = offset & (BLOCK_SIZE - 1);
	if (*size > blocks->block[offset >> BLOCK_SHIFT].length - within)
		*size = blocks->block[offset >> BLOCK_SHIFT].length - within;
	return blocks->block[offset >> BLOCK_SHIFT].bytes + within;
}

bool
image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (offset < segment->offset || offset - segment->offset >= segment->file_size)
			continue;
		*vaddr = segment->vaddr + (offset - segment->offset);
		return true;
	}
	return false;
}

const void *
image_memory(const struct image *image)
{
	return image->blocks->memory;
}

/* --- opening --------------------------------------------------------------------------- */

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
image_create(int fd, uint64_t size, size_t block_count)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->fd = fd;
	image->size = size;
	image->blocks = xcalloc(1, sizeof(*image->blocks) +
					   block_count * sizeof(image->blocks->block[0]));
	return image;
}

static struct image *
image_or_null(struct image *image)
{
	if (!read_headers(image)) {
		image_free(image);
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
image_open_fd(int fd)
{
	struct image *image;
	struct stat st;
	uint64_t size;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr) ||
	    (uint64_t)st.st_size > IMAGE_MAX_SIZE) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	size = (uint64_t)st.st_size;
	image = image_create(fd, size, (size - 1) / BLOCK_SIZE + 1);
	image->written_ns = written_ns(&st);
	return image_or_null(image);
}

struct image *
image_take_memory(void *bytes, size_t size)
{
	struct image *image;

	if (size < sizeof(Elf64_Ehdr) || size > IMAGE_MAX_SIZE) {
		free(bytes);
		return NULL;
	}
	image = image_create(-1, size, 0);
	image->blocks->memory = bytes;
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
	struct image *now;
	struct stat st;
	bool same;

	if (image->blocks->memory)
		return true;
	if (fstat(image->fd, &st) != 0)
		return false;
	if ((uint64_t)st.st_size == image->size && written_ns(&st) == image->written_ns)
		return true;
	now = image_open_fd(fcntl(image->fd, F_DUPFD_CLOEXEC, 0));
	same = now && now->build_id_size > 0 && now->build_id_size == image->build_id_size &&
	       memcmp(now->build_id, image->build_id, now->build_id_size) == 0;
	image_free(now);
	return same;
}

void
image_free(struct image *image)
{
	if (!image)
		return;
	if (image->fd >= 0) {
		for (uint64_t i = 0; i < (image->size - 1) / BLOCK_SIZE + 1; i++)
			free(image->blocks->block[i].bytes);
		close(image->fd);
	}
	free(image->blocks->memory);
	free(image->blocks);
	free(image);
}
