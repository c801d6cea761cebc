/* SPDX-License-Identifier: MIT */
/*
 * symbol_names.c - versions cut off, C++ and Rust names demangled by libiberty.
 */
#include "symbol_names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct demangled {
	struct strbuf *out;
	size_t limit; /* of out->length */
	jmp_buf too_long;
};

size_t
symbol_name_length(const char *raw)
{
	const char *at = strchr(raw, '@');

	return at != NULL && at != raw ? (size_t)(at - raw) : strlen(raw);
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
static bool
demangle(struct strbuf *out, const char *name)
{
	struct demangled demangled = { .out = out, .limit = out->length + SYMBOL_NAME_MAX };

	if (setjmp(demangled.too_long) != 0)
		return false;
	/* Rust first: a legacy Rust name is also a C++ name, with a hash. */
	return rust_demangle_callback(name, 0, take_piece, &demangled) != 0 ||
	       cplus_demangle_v3_callback(name, 0, take_piece, &demangled) != 0;
}

/* Only names that start so are mangled; the demangler knows other languages' too. */
static bool
is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 ||
	       (strncmp(name, "_R", 2) == 0 && isupper((unsigned char)name[2]));
}

void
symbol_name_add_readable(struct strbuf *out, const char *raw)
{
	const size_t before = out->length;
	const size_t length = symbol_name_length(raw);
	char *name = xstrndup(raw, length);
	const char *suffix = compiler_suffix(name);
	char *core = xstrndup(name, (size_t)(suffix - name));

	if (is_mangled(core) && demangle(out, core) && out->length > before) {
		strbuf_add(out, suffix, suffix_length(suffix));
	} else {
		out->length = before;
		strbuf_add(out, name, length);
	}
	free(core);
	free(name);
}
