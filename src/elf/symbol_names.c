/* SPDX-License-Identifier: MIT */
/*
 * symbol_names.c - versions cut off, C++, Rust and D names demangled by libiberty.
 */
#include "wallsample/elf/symbol_names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "elf/symbol_names_internal.h"

/*
 * libiberty takes its working memory from the stack, and takes no C++ name of more than 1,024
 * bytes unless it is told that there is enough. Templates of real programs have names of
 * several thousand. On a stack of its own of this size it needs, for a name of n bytes:
 * 72 n for what it parses (struct demangle_component and substitutions), a
 * frame or more of the parser for every byte, and 16 bytes for each pair of a template and
 * a reference to a template's parameter, each counted twice.
 */
#define CXX_SHORT 1024
#define CXX_MOST 16384
#define CXX_STACK ((size_t)64 << 20)
#define CXX_PAIRS_MOST ((size_t)32 << 20)
#ifndef DMGL_NO_RECURSE_LIMIT
#define DMGL_NO_RECURSE_LIMIT 0 /* before 2019 there was no limit */
#endif

/* Longest D name, because the parser calls itself for each byte of it; and the most that
 * it may stand for. */
#define D_MOST 4096
#define D_SIZE_MOST ((size_t)4 << 20)

struct demangled {
	struct strbuf *out;
	size_t limit; /* of out->length */
	jmp_buf too_long;
	const char *name;
	int options;
	bool good;
};

size_t
symbol_name_length(const char *raw)
{
	const char *at = strchr(raw, '@');
	size_t length = at != NULL && at != raw ? (size_t)(at - raw) : strlen(raw);

	/* "take!;" in debug information, to tell it from the name of machine code. */
	if (length > 1 && raw[length - 1] == ';')
		length--;
	return length;
}

/*
 * Where a legacy Rust name "_ZN…17h0123456789abcdefE" ends, or 0 if it is none:
 * unlike in C++, a '.' in it may belong to the name.
 */
static size_t
rust_legacy_length(const char *name)
{
	static const size_t hash_length = 16;

	if (strncmp(name, "_ZN", 3) != 0)
		return 0;
	for (const char *at = strstr(name, "17h"); at != NULL; at = strstr(at + 1, "17h")) {
		const char *hash = at + 3;

		if (strspn(hash, "0123456789abcdef") == hash_length && hash[hash_length] == 'E')
			return (size_t)(hash + hash_length + 1 - name);
	}
	return 0;
}

/* What compilers put behind a mangled name: ".part.0", ".cold"; "" if nothing. */
static const char *
compiler_suffix(const char *name)
{
	const size_t rust = rust_legacy_length(name);

	return rust > 0 ? name + rust : name + strcspn(name, ".");
}

/* ".llvm.8397458" holds a hash of the build and tells people nothing. */
static size_t
suffix_length(const char *suffix)
{
	const char *llvm = strstr(suffix, ".llvm.");

	return llvm != NULL ? (size_t)(llvm - suffix) : strlen(suffix);
}

static void
take_piece(const char *piece, size_t length, void *opaque)
{
	struct demangled *demangled = opaque;

	if (length > demangled->limit - demangled->out->length)
		longjmp(demangled->too_long, 1);
	strbuf_add(demangled->out, piece, length);
}

/*
 * A mangled name of 254 bytes can stand for 140 MB of text, because each part
 * may name earlier parts twice. libiberty hands the text out in pieces but has
 * no way to be told to stop; it keeps nothing on the heap while it does so
 * (but for a few bytes in Rust's punycode), so a jump out of it is safe.
 */
static void
demangle_pieces(void *opaque)
{
	struct demangled *demangled = opaque;

	if (setjmp(demangled->too_long) != 0)
		return;
	/* Rust first: a legacy Rust name is also a C++ name, with a hash. */
	demangled->good = rust_demangle_callback(demangled->name, 0, take_piece, demangled) != 0 ||
			  cplus_demangle_v3_callback(demangled->name, demangled->options,
						     take_piece, demangled) != 0;
}

/* Does the parser's table of pairs fit on its stack? */
static bool
pairs_fit(const char *name)
{
	size_t templates = 1, references = 1;

	for (; *name != '\0'; name++) {
		templates += *name == 'I';
		references += (*name == 'R' || *name == 'O') && (name[1] == 'T' || name[1] == 'S');
	}
	return 4 * templates * references * 16 <= CXX_PAIRS_MOST;
}

static bool
demangle_cxx_or_rust(struct strbuf *out, const char *name)
{
	struct demangled demangled = {
		.out = out, .limit = out->length + SYMBOL_NAME_MAX, .name = name,
	};
	const size_t length = strlen(name);

	if (length <= CXX_SHORT) {
		demangle_pieces(&demangled);
	} else if (length <= CXX_MOST && pairs_fit(name)) {
		demangled.options = DMGL_NO_RECURSE_LIMIT;
		own_stack_call(CXX_STACK, demangle_pieces, &demangled);
	}
	return demangled.good;
}

/* Back references let D names grow as C++ names do, and here nothing stops the writer. */
static bool
demangle_d(struct strbuf *out, const char *name)
{
	char *text;

	if (strlen(name) > D_MOST || d_name_size(name) > D_SIZE_MOST)
		return false;
	text = dlang_demangle(name, 0);
	if (text == NULL)
		return false;
	if (strlen(text) <= SYMBOL_NAME_MAX)
		strbuf_add_text(out, text);
	free(text);
	return true;
}

/* Only names that start so are mangled; the demangler knows other languages' too. */
static bool
is_cxx_or_rust(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 ||
	       (strncmp(name, "_R", 2) == 0 && isupper((unsigned char)name[2]));
}

static bool
is_d(const char *name)
{
	return strcmp(name, "_Dmain") == 0 ||
	       (strncmp(name, "_D", 2) == 0 && isdigit((unsigned char)name[2]));
}

static bool
demangle_name(struct strbuf *out, const char *name)
{
	if (is_cxx_or_rust(name))
		return demangle_cxx_or_rust(out, name);
	return is_d(name) && demangle_d(out, name);
}

void
symbol_name_add_readable(struct strbuf *out, const char *raw, bool demangle)
{
	const size_t before = out->length;
	const size_t length = symbol_name_length(raw);
	char *name = xstrndup(raw, length < SYMBOL_NAME_MAX ? length : SYMBOL_NAME_MAX);
	const char *suffix = compiler_suffix(name);
	char *core = xstrndup(name, (size_t)(suffix - name));

	if (demangle && demangle_name(out, core) && out->length > before) {
		strbuf_add(out, suffix, suffix_length(suffix));
	} else {
		out->length = before;
		strbuf_add_text(out, name);
	}
	free(core);
	free(name);
}

bool
symbol_name_is_mangled(const char *raw)
{
	if (raw[0] != '_')
		return false;
	return raw[1] == 'Z' || (raw[1] == 'R' && isupper((unsigned char)raw[2])) ||
	       (raw[1] == 'D' && (isdigit((unsigned char)raw[2]) || strcmp(raw, "_Dmain") == 0));
}
