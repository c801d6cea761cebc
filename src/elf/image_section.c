/* SPDX-License-Identifier: MIT */
/* image_section.c - the sections of an image, which loaders do not need and may be stripped. */
#include <string.h>

#include "wallsample/elf/image.h"

/* A linked program has some forty. */
#define SECTIONS_MOST 4096

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
