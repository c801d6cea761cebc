/* SPDX-License-Identifier: MIT */
/*
 * elf_open.c - looks at an ELF header before libelf does.
 */
#include "elf_open.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is this a header whose counts can be believed, of a file of `size` bytes? */
static bool
is_sound(const Elf64_Ehdr *header, uint64_t size, const char **why)
{
	*why = "it is not an ELF file of a 64-bit little-endian machine";
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_ident[EI_VERSION] != EV_CURRENT)
		return false;
	*why = NULL;
	if (header->e_shoff == 0)
		return false;
	*why = "its ELF header is damaged";
	if (header->e_shnum == 0 || header->e_shnum >= SHN_LORESERVE ||
	    header->e_shentsize != sizeof(Elf64_Shdr) || header->e_phnum == PN_XNUM ||
	    header->e_shstrndx == SHN_XINDEX)
		return false;
	*why = "it is truncated: its section headers are not there";
	return header->e_shoff <= size &&
	       size - header->e_shoff >= (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);
}

static bool
is_openable(const Elf64_Ehdr *header, uint64_t size, const char **why)
{
	if (!is_sound(header, size, why))
		return false;
	*why = "libelf is too old for it";
	return elf_version(EV_CURRENT) != EV_NONE;
}

static Elf *
told(Elf *elf, const char *reason, const char **why)
{
	if (why != NULL)
		*why = elf != NULL ? NULL : reason;
	return elf;
}

Elf *
elf_open_fd(int fd, const char **why)
{
	const char *reason = "it cannot be read";
	Elf64_Ehdr header;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return told(NULL, reason, why);
	reason = "it is truncated: not even an ELF header is there";
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    !is_openable(&header, (uint64_t)st.st_size, &reason))
		return told(NULL, reason, why);
	/* ELF_C_READ reads with pread, never maps, and does not write. */
	return told(elf_begin(fd, ELF_C_READ, NULL), "libelf does not take it", why);
}

Elf *
elf_open_memory(const void *bytes, size_t size, const char **why)
{
	const char *reason = "it is truncated: not even an ELF header is there";
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return told(NULL, reason, why);
	memcpy(&header, bytes, sizeof(header));
	if (!is_openable(&header, size, &reason))
		return told(NULL, reason, why);
	return told(elf_memory((char *)(uintptr_t)bytes, size), "libelf does not take it", why);
}

Elf *
elf_open_image(const struct image *image, const char **why)
{
	const void *bytes = image_memory(image);

	return bytes != NULL ? elf_open_memory(bytes, image->size, why) :
			       elf_open_fd(image->fd, why);
}
