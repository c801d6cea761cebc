/* SPDX-License-Identifier: MIT */
/*
 * elf_open.c - checks an ELF header before libelf reads the file.
 */
#include "wallsample/elf/elf_open.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Largest size in bytes of the table of section names. LLVM puts the names of symbols into the same
 * table. */
#define NAMES_MAX (UINT64_C(64) << 20)

/* The bytes to open: a file, or a range of memory. */
struct source {
	int fd;
	const uint8_t *bytes; /* NULL when the source is the file `fd` */
	uint64_t size;        /* bytes of the source */
	bool bare;            /* a file without sections is accepted */
};

static bool
read_at(const struct source *source, uint64_t offset, void *to, size_t size)
{
	if (offset > source->size || source->size - offset < size)
		return false;
	if (source->bytes == NULL)
		return pread(source->fd, to, size, (off_t)offset) == (ssize_t)size;
	memcpy(to, source->bytes + offset, size);
	return true;
}

/*
 * Returns whether the table of section names is of a plausible size and ends with a zero. libelf
 * reads the whole table when the first name is requested, and for each name searches backwards from
 * the end of the table for a zero.
 */
static bool
has_sound_names(const struct source *source, const Elf64_Ehdr *header)
{
	const uint64_t at = header->e_shoff + (uint64_t)header->e_shstrndx * sizeof(Elf64_Shdr);
	Elf64_Shdr names;
	char last;

	if (header->e_shstrndx == SHN_UNDEF)
		return true;
	return header->e_shstrndx < header->e_shnum && read_at(source, at, &names, sizeof(names)) &&
	       names.sh_type == SHT_STRTAB && names.sh_size > 0 && names.sh_size <= NAMES_MAX &&
	       names.sh_offset < source->size &&
	       read_at(source, names.sh_offset + names.sh_size - 1, &last, 1) && last == '\0';
}

/* Returns whether libelf can read the ELF header safely. Otherwise sets *why to the reason; NULL
 * for a valid file without sections. */
static bool
is_sound(const struct source *source, const Elf64_Ehdr *header, const char **why)
{
	const uint64_t size = source->size;

	*why = "it is not an ELF file of a 64-bit little-endian machine";
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_ident[EI_VERSION] != EV_CURRENT)
		return false;
	*why = NULL;
	if (header->e_shoff == 0)
		/* With offset 0 libelf would read section headers at the start of the file. */
		return source->bare && header->e_shnum == 0 && header->e_shstrndx == SHN_UNDEF &&
		       header->e_phnum != PN_XNUM;
	*why = "its ELF header is damaged";
	if (header->e_shnum == 0 || header->e_shnum >= SHN_LORESERVE ||
	    header->e_shentsize != sizeof(Elf64_Shdr) || header->e_phnum == PN_XNUM ||
	    header->e_shstrndx == SHN_XINDEX)
		return false;
	*why = "it is truncated: its section headers are not there";
	return header->e_shoff <= size &&
	       size - header->e_shoff >= (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);
}

/* Returns whether libelf can open the source safely; sets *why as elf_open.h describes. */
static bool
is_openable(const struct source *source, const char **why)
{
	Elf64_Ehdr header;

	*why = "it is truncated: not even an ELF header is there";
	if (!read_at(source, 0, &header, sizeof(header)) || !is_sound(source, &header, why))
		return false;
	*why = "the names of its sections are damaged";
	if (!has_sound_names(source, &header))
		return false;
	*why = "libelf is too old for it";
	return elf_version(EV_CURRENT) != EV_NONE;
}

/* Opens the source with libelf. Returns NULL, with the reason in *why, when libelf must not or
 * cannot open it. */
static Elf *
open_source(struct source *source, const char **why)
{
	const char *reason = "it cannot be read";
	Elf *elf = NULL;
	struct stat st;
	bool known = source->bytes != NULL;

	if (!known && fstat(source->fd, &st) == 0 && S_ISREG(st.st_mode)) {
		source->size = (uint64_t)st.st_size;
		known = true;
	}
	if (known && is_openable(source, &reason)) {
		/* ELF_C_READ reads with pread, never maps, and does not write. */
		elf = source->bytes == NULL ?
			      elf_begin(source->fd, ELF_C_READ, NULL) :
			      elf_memory((char *)(uintptr_t)source->bytes, source->size);
		reason = "libelf does not take it";
	}
	if (why != NULL)
		*why = elf != NULL ? NULL : reason;
	return elf;
}

Elf *
elf_open_fd(int fd, const char **why)
{
	struct source source = { .fd = fd };

	return open_source(&source, why);
}

Elf *
elf_open_memory(const void *bytes, size_t size, const char **why)
{
	struct source source = { .fd = -1, .bytes = bytes, .size = size };

	return open_source(&source, why);
}

Elf *
elf_open_image(const struct image *image, const char **why)
{
	const void *bytes = image_memory(image);

	return bytes != NULL ? elf_open_memory(bytes, image->size, why) :
			       elf_open_fd(image->fd, why);
}

Elf *
elf_open_unwind(const struct image *image, int *fd)
{
	struct source source = {
		.fd = -1, .bytes = image_memory(image), .size = image->size, .bare = true
	};
	Elf *elf;

	if (source.bytes == NULL)
		source.fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	elf = open_source(&source, NULL);
	if (elf == NULL && source.fd >= 0)
		close(source.fd);
	*fd = elf != NULL ? source.fd : -1;
	return elf;
}

/* --- sections -------------------------------------------------------------------------- */

const char *
elf_section_name(Elf *elf, const GElf_Shdr *header)
{
	size_t names;
	const char *name = NULL;

	if (elf_getshdrstrndx(elf, &names) == 0)
		name = elf_strptr(elf, names, header->sh_name);
	return name != NULL ? name : "";
}

Elf_Data *
elf_section_data(Elf_Scn *scn, uint64_t limit)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (scn == NULL || gelf_getshdr(scn, &header) == NULL || header.sh_size > limit ||
	    (header.sh_flags & SHF_COMPRESSED) != 0)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data != NULL && data->d_buf != NULL && data->d_size <= limit ? data : NULL;
}

const char *
elf_text_at(const Elf_Data *texts, uint64_t offset, size_t most)
{
	const char *text;
	size_t rest;

	if (offset >= texts->d_size)
		return NULL;
	text = (const char *)texts->d_buf + offset;
	rest = texts->d_size - offset;
	return text[0] != '\0' && memchr(text, '\0', rest < most ? rest : most) != NULL ? text :
											  NULL;
}
