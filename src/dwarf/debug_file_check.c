/* SPDX-License-Identifier: MIT */
/*
 * debug_file_check.c - is a file the debug file that is wanted?
 */
#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

/* The notes of debug files are some hundred bytes. */
#define NOTES_MAX (UINT64_C(64) << 10)

Elf_Scn *
debug_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *text;

		if (gelf_getshdr(scn, header) == NULL || header->sh_type == SHT_NOBITS ||
		    header->sh_size == 0)
			continue;
		text = elf_strptr(elf, names, header->sh_name);
		if (text != NULL && strcmp(text, name) == 0)
			return scn;
	}
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

/* The build-id that a debug file has in its sections: its segments need not be there. */
static bool
has_id(Elf *elf, const struct debug_want *want)
{
	const uint8_t *id = NULL;
	Elf_Scn *scn = NULL;
	size_t size = 0;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *notes;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_NOTE ||
		    header.sh_size > NOTES_MAX)
			continue;
		notes = elf_getdata(scn, NULL);
		if (notes != NULL && notes->d_buf != NULL && find_id_note(notes, &id, &size))
			return size == want->id_size && memcmp(id, want->id, size) == 0;
	}
	/* One found by its CRC needs no build-id; any other does. */
	return want->has_crc;
}

/*
 * The CRC of .gnu_debuglink is that of IEEE 802.3, over the whole file. NULL: it is the one
 * that is wanted.
 */
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

/* NULL: it is wanted. */
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
	struct strbuf shown;

	strings_intern(files->said, path);
	if (strings_count(files->said) == count)
		return;
	strbuf_init(&shown);
	strbuf_add_escaped(&shown, path);
	strbuf_add_text(&shown, " is not used as the debug file of ");
	strbuf_add_escaped(&shown, module);
	log_say(files->config.log, LOG_NORMAL, "%s: %s", shown.data, why);
	strbuf_release(&shown);
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
