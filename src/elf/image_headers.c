/* SPDX-License-Identifier: MIT */
/* image_headers.c - finds section headers, program headers and notes of an image. */
#include <string.h>

#include "wallsample/elf/image.h"

/* Largest number of sections; a linked program has some forty. */
#define SECTIONS_MOST 4096

/* Largest number of bytes of notes that are searched; real files have some hundred bytes of
 * notes. */
#define NOTES_MOST (UINT64_C(64) << 10)

static bool
image_read_header(const struct image *image, Elf64_Ehdr *header)
{
	return image_read_offset(image, 0, header, sizeof(*header)) &&
	       header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shnum <= SECTIONS_MOST &&
	       header->e_shoff < image->size;
}

bool
image_section(const struct image *image, uint64_t index, Elf64_Shdr *to)
{
	Elf64_Ehdr header;

	return image_read_header(image, &header) && index < header.e_shnum &&
	       image_read_offset(image, header.e_shoff + index * sizeof(*to), to, sizeof(*to));
}

static bool
is_called(const struct image *image, const Elf64_Shdr *names, const Elf64_Shdr *section,
	  const char *name)
{
	char text[IMAGE_SECTION_NAME_MOST];
	const size_t size = strlen(name) + 1;

	return size <= sizeof(text) && section->sh_name < names->sh_size &&
	       size <= names->sh_size - section->sh_name && names->sh_offset < image->size &&
	       image_read_offset(image, names->sh_offset + section->sh_name, text, size) &&
	       memcmp(text, name, size) == 0;
}

bool
image_find_section(const struct image *image, const char *name, Elf64_Shdr *to)
{
	Elf64_Ehdr header;
	Elf64_Shdr names;

	if (!image_read_header(image, &header) ||
	    !image_section(image, header.e_shstrndx, &names) || names.sh_type != SHT_STRTAB)
		return false;
	for (uint64_t i = 1; image_section(image, i, to); i++)
		if (is_called(image, &names, to, name))
			return true;
	return false;
}

uint64_t
image_section_vaddr(const struct image *image, const char *name, uint64_t size)
{
	Elf64_Shdr section;

	return image_find_section(image, name, &section) && (section.sh_flags & SHF_ALLOC) != 0 &&
			       section.sh_size >= size ?
		       section.sh_addr :
		       0;
}

bool
image_next_header(const struct image *image, uint32_t type, uint64_t *index, Elf64_Phdr *to)
{
	Elf64_Ehdr header;

	if (!image_read_offset(image, 0, &header, sizeof(header)))
		return false;
	while (*index < header.e_phnum)
		if (image_read_offset(image, header.e_phoff + (*index)++ * sizeof(*to), to,
				      sizeof(*to)) &&
		    to->p_type == type)
			return true;
	return false;
}

/* Searches the first `left` bytes of the PT_NOTE segment `ph` for the note of image_find_note(), up
 * to the first damaged note. */
static bool
find_in_notes(const struct image *image, const Elf64_Phdr *ph, uint64_t left, const char owner[4],
	      uint32_t type, uint64_t *at, uint64_t *size)
{
	/* gABI: note fields are padded to 4 bytes, or to 8 when the alignment of the segment is
	 * 8. */
	const uint64_t pad = ph->p_align == 8 ? 7 : 3;

	*at = ph->p_offset;
	while (left > sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		char name[4];
		uint64_t name_size, next;

		if (!image_read_offset(image, *at, &note, sizeof(note)))
			return false;
		name_size = ((uint64_t)note.n_namesz + pad) & ~pad;
		next = sizeof(note) + name_size + (((uint64_t)note.n_descsz + pad) & ~pad);
		if (note.n_type == type && note.n_namesz == sizeof(name) &&
		    image_read_offset(image, *at + sizeof(note), name, sizeof(name)) &&
		    memcmp(name, owner, sizeof(name)) == 0) {
			*at += sizeof(note) + name_size;
			*size = note.n_descsz;
			return true;
		}
		if (next >= left)
			return false;
		*at += next;
		left -= next;
	}
	return false;
}

bool
image_find_note(const struct image *image, const char owner[4], uint32_t type, uint64_t *at,
		uint64_t *size)
{
	uint64_t index = 0, left = NOTES_MOST;
	Elf64_Phdr ph;

	while (left > 0 && image_next_header(image, PT_NOTE, &index, &ph)) {
		const uint64_t part = ph.p_filesz < left ? ph.p_filesz : left;

		if (find_in_notes(image, &ph, part, owner, type, at, size))
			return true;
		left -= part;
	}
	return false;
}
