/* SPDX-License-Identifier: MIT */
/*
 * go_sources_internal.h - the steps of go_find.c, each alone: what a file says, what memory
 * holds, and whether they fit.
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_SOURCES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_SOURCES_INTERNAL_H

#include "runtime/go/go_find_internal.h"
#include "runtime/runtime_kind_internal.h"
#include "wallsample/process/module.h"
#include "wallsample/elf/symbol_search.h"

/* Word of a structure that was read; 0 for an absent one. */
uint64_t go_word(const uint8_t *bytes, uint32_t offset);
uint32_t go_word32(const uint8_t *bytes, uint32_t offset);

/* --- go_file.c: what the file of a module says ------------------------------------------- */

/* All addresses are the image's own; 0: not there. */
struct go_file {
	uint64_t build;         /* for go_version_read; 0: no Go is there */
	uint64_t all, head;
	uint64_t reasons, reasons_size;
};

struct go_file_search {
	const struct image *image;
	enum go_file_stage {
		GO_FILE_SECTION,
		GO_FILE_DATA,    /* without sections: where its data begins with the same */
		GO_FILE_STRING,  /* where that was taken out: runtime.buildVersion */
		GO_FILE_SYMBOLS,
		GO_FILE_DONE,
	} stage;
	struct symbol_search symbols;
	size_t segment;
	uint64_t at;
	struct go_file found;
};

void go_file_search_init(struct go_file_search *search, const struct image *image);
/* Goes on until *budget bytes were read, which are subtracted. True when search->found is it. */
bool go_file_search_step(struct go_file_search *search, uint64_t *budget);

/* --- go_version.c: what is in .go.buildinfo, or in runtime.buildVersion ------------------ */

/* From memory at the address of one of them: "go1.26.8". False: it is not there, or not readable
 * yet. */
bool go_version_read(const struct memory *memory, uint64_t address, char text[GO_VERSION_TEXT]);
/* Of "go1.26.8", "devel go1.27-…": 26 and 8, 27 and 0. False: no version of Go 1. */
bool go_version_parse(const char *text, uint32_t *minor, uint32_t *patch, bool *released);

/* --- go_fit.c: does memory hold that? ---------------------------------------------------- */


/*
 * Is the slice at this address that of all goroutines? `first`: and is the first of them the
 * first that there ever was, as nearly always, so that nothing else is taken for it?
 * NOT may be said of one that is changing.
 */
enum finder_fit go_fit_all(const struct runtime_tools *tools, const struct go_layout *layout,
		       uint64_t address, bool first);
/* Does a slice with these three words look like one that is worth a closer look? */
bool go_fit_is_slice(const uint64_t word[3]);
/* Are the bytes, g_size of them, a goroutine? */
bool go_fit_goroutine(const struct go_layout *layout, const uint8_t *bytes);
/* Are the bytes at this address, m_size of them, a thread? Reads what it runs. */
bool go_fit_thread(const struct runtime_tools *tools, const struct go_layout *layout,
		   uint64_t address, const uint8_t *bytes);

/* --- go_scan.c: where the variables are, without symbols --------------------------------- */

struct go_scan {
	const struct runtime_tools *tools; /* borrowed, as the others */
	const struct go_layout *layout;
	const struct image *image;
	uint64_t bias;
	size_t segment;
	uint64_t at;
	uint64_t all, head[GO_HEADS_MOST];
	size_t head_count;
	uint64_t reasons;
};

void go_scan_init(struct go_scan *scan, const struct runtime_tools *tools,
		  const struct go_layout *layout, const struct image *image, uint64_t bias);
/* True when all is looked through. To be called while nobody is asked to stop. */
bool go_scan_step(struct go_scan *scan, uint64_t *budget);

#endif
