/* SPDX-License-Identifier: MIT */
/*
 * debug_file_check.c - checks whether a file is the wanted debug file.
 */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

/* Largest size in bytes of a section of notes that is read; the one with the build-id has some
 * 40. */
#define NOTES_MAX (UINT64_C(64) << 10)

Elf_Scn *
debug_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;

	while (elf != NULL && (scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, header) != NULL && header->sh_type != SHT_NOBITS &&
		    header->sh_size > 0 && strcmp(elf_section_name(elf, header), name) == 0)
			return scn;
	return NULL;
}

const uint8_t *
debug_section_bytes(Elf *elf, const char *name, size_t limit, size_t *size)
{
	GElf_Shdr header;
	Elf_Scn *scn = debug_section(elf, name, &header);
	const Elf_Data *data;

	if (scn == NULL || header.sh_size > limit)
		return NULL;
	data = elf_rawdata(scn, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size == 0 || data->d_size > limit)
		return NULL;
	*size = data->d_size;
	return data->d_buf;
}

bool
debug_has_dwarf(Elf *elf)
{
	GElf_Shdr header;

	return debug_section(elf, ".debug_info", &header) != NULL ||
	       debug_section(elf, ".zdebug_info", &header) != NULL;
}

bool
debug_has_symtab(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while (elf != NULL && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) != NULL && header.sh_type == SHT_SYMTAB &&
		    header.sh_size > sizeof(Elf64_Sym))
			return true;
	}
	return false;
}

static bool
find_id_note(Elf_Data *notes, const uint8_t **id, size_t *size)
{
	size_t at = 0, next, name, description;
	GElf_Nhdr note;

	while ((next = gelf_getnote(notes, at, &note, &name, &description)) > 0) {
		const uint8_t *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			*id = bytes + description;
			*size = note.n_descsz;
			return true;
		}
		at = next;
	}
	return false;
}

/*
 * Returns whether a section of the file has the wanted build-id (sections are read because debug
 * files may lack the contents of segments). A file without a build-id is accepted if a CRC will be
 * checked. Large sections of notes, such as those of annobin in Fedora's files, are not read.
 */
static bool
has_id(Elf *elf, const struct debug_want *want)
{
	const uint8_t *id = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t size = 0;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		Elf_Data *notes;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_NOTE ||
		    header.sh_size > NOTES_MAX)
			continue;
		notes = elf_getdata(scn, NULL);
		if (notes != NULL && notes->d_buf != NULL && find_id_note(notes, &id, &size))
			return size == want->id_size && memcmp(id, want->id, size) == 0;
	}
	return want->has_crc;
}

/* Compares the CRC of the whole file (IEEE 802.3) with the CRC in .gnu_debuglink. Returns NULL when
 * they are equal, else the reason why the file is refused. */
static const char *
check_crc(struct debug_files *files, int fd, uint32_t crc)
{
	const size_t size = 128 * 1024;
	uint8_t *block;
	uint32_t sum = 0;
	struct stat st;
	off_t at = 0;

	if (fstat(fd, &st) != 0)
		return "it cannot be read";
	if ((uint64_t)st.st_size > files->crc_left)
		return "too much would have to be read for the CRCs of debug links";
	block = xmalloc(size);
	while (at < st.st_size) {
		const ssize_t n = pread(fd, block, size, at);

		if (n <= 0)
			break;
		sum = lzma_crc32(block, (size_t)n, sum);
		at += n;
	}
	free(block);
	files->crc_left -= (uint64_t)at < files->crc_left ? (uint64_t)at : files->crc_left;
	if (at != st.st_size || sum != crc)
		return "its CRC is not that of the debug link";
	return NULL;
}

/* Returns NULL when the file is the wanted debug file, else the reason why the file is refused. */
static const char *
what_is_wrong(struct debug_files *files, Elf *elf, int fd, const struct debug_want *want)
{
	GElf_Ehdr header;

	if (gelf_getehdr(elf, &header) == NULL)
		return "its ELF header is damaged";
	if (header.e_machine != want->machine)
		return "it is of another machine";
	if (want->id_size > 0 && !has_id(elf, want))
		return "its build-id is another";
	return want->has_crc ? check_crc(files, fd, want->crc) : NULL;
}

void
debug_files_warn(struct debug_files *files, const char *path, const char *module, const char *why)
{
	const size_t count = strings_count(files->said);

	strings_intern(files->said, path);
	if (strings_count(files->said) > count)
		log_say(files->config.log, LOG_NORMAL, "%s is not used as the debug file of %s: %s",
			path, module, why);
}

void
debug_found_release(struct debug_found *found)
{
	elf_end(found->elf);
	if (found->fd >= 0)
		close(found->fd);
	free(found->path);
	*found = (struct debug_found){ .fd = -1 };
}

bool
debug_accept(struct debug_files *files, int fd, const char *path, const struct debug_want *want,
	     struct debug_found *found)
{
	const char *why = NULL;

	*found = (struct debug_found){ .fd = fd, .path = xstrdup(path) };
	found->elf = elf_open_fd(fd, &why);
	if (found->elf != NULL)
		why = what_is_wrong(files, found->elf, fd, want);
	else if (why == NULL)
		why = "it has no sections";
	if (why == NULL && (debug_has_dwarf(found->elf) || debug_has_symtab(found->elf)))
		return true;
	if (why != NULL)
		debug_files_warn(files, path, want->module, why);
	debug_found_release(found);
	return false;
}
