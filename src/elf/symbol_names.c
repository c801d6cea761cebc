/* SPDX-License-Identifier: MIT */
/*
 * symbol_names.c - removes versions, and demangles C++, Rust and D names with libiberty.
 */
#include "wallsample/elf/symbol_names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "elf/symbol_names_internal.h"
#include "wallsample/base/thread.h"

/*
 * Limits for C++ and Rust names. libiberty takes its working memory from the stack, and refuses C++
 * names of more than 1,024 bytes unless an option removes that limit. Templates of real programs
 * have names of several thousand bytes. So names of more than CXX_SHORT bytes are demangled with
 * that option, on a separate stack of CXX_STACK bytes; names of more than CXX_MOST bytes are not
 * demangled.
 *
 * For a name of n bytes libiberty needs 72 n bytes for the parsed parts (struct demangle_component
 * and substitutions), one or more frames of the parser for every byte, and a table with 16 bytes
 * for each pair of a template and a reference to a template's parameter, of which it counts each
 * twice. A name whose table needs more than CXX_PAIRS_MOST bytes is not demangled.
 */
#define CXX_SHORT 1024
#define CXX_MOST 16384
#define CXX_STACK ((size_t)64 << 20)
#define CXX_PAIRS_MOST ((size_t)32 << 20)
#ifndef DMGL_NO_RECURSE_LIMIT
#define DMGL_NO_RECURSE_LIMIT 0 /* libiberty before 2019 has neither the limit nor the option */
#endif

/* Longest D name in bytes that is demangled (the parser recurses for each byte), and the largest
 * bound on its demangled size. */
#define D_MOST 4096
#define D_SIZE_MOST ((size_t)4 << 20)

struct demangled {
	struct strbuf *out;
	size_t limit; /* largest length that `out` may reach */
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

	/* Debug information may append a ';': "take!;" is "take!" in the code. */
	if (length > 1 && raw[length - 1] == ';')
		length--;
	return length;
}

/*
 * Returns the length of a legacy Rust name "_ZN…17h0123456789abcdefE"; 0 if the name is no such
 * name. In Rust, unlike in C++, a '.' may be part of the mangled name.
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

/* Returns the compiler's suffix of a mangled name (".part.0", ".cold"); "" when there is none. */
static const char *
compiler_suffix(const char *name)
{
	const size_t rust = rust_legacy_length(name);

	return rust > 0 ? name + rust : name + strcspn(name, ".");
}

/* Returns the length of the compiler's suffix without a part such as ".llvm.8397458", which is a
 * hash of the build and is not shown. */
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
 * Demangles demangled->name into demangled->out; sets `good` if it is a Rust or C++ name.
 *
 * A mangled name of 254 bytes can expand to 140 MB of text, because each part may refer to earlier
 * parts twice. libiberty passes the text in pieces to its callback, take_piece(), but a callback
 * cannot make libiberty stop. So take_piece() leaves libiberty by longjmp when the text is too
 * long. This is safe, because libiberty has no memory from the heap at that time (except for a few
 * bytes for Rust's punycode, which are lost).
 */
static void
demangle_pieces(void *opaque)
{
	struct demangled *demangled = opaque;

	if (setjmp(demangled->too_long) != 0)
		return;
	/* Rust is tried first, because a legacy Rust name is also a valid C++ name, with the hash
	 * as its last part. */
	demangled->good = rust_demangle_callback(demangled->name, 0, take_piece, demangled) != 0 ||
			  cplus_demangle_v3_callback(demangled->name, demangled->options,
						     take_piece, demangled) != 0;
}

struct call {
	void (*function)(void *context);
	void *context;
};

static void *
run_call(void *opaque)
{
	const struct call *call = opaque;

	call->function(call->context);
	return NULL;
}

/*
 * Calls function(context) on the stack of a new thread, which blocks all signals, and waits for its
 * end. The stack has `size` bytes (the kernel allocates them on first use). Does not call the
 * function when there is no memory for the stack.
 */
static void
own_stack_call(size_t size, void (*function)(void *context), void *context)
{
	struct call call = { function, context };
	pthread_t thread;

	if (thread_start(&thread, size, false, run_call, &call) == 0)
		pthread_join(thread, NULL);
}

/* Returns whether libiberty's table of pairs (template, reference to a template's parameter) for
 * this name has at most CXX_PAIRS_MOST bytes. */
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
	struct demangled demangled = { .out = out,
				       .limit = out->length + SYMBOL_NAME_MAX,
				       .name = name };
	const size_t length = strlen(name);

	if (length <= CXX_SHORT) {
		demangle_pieces(&demangled);
	} else if (length <= CXX_MOST && pairs_fit(name)) {
		demangled.options = DMGL_NO_RECURSE_LIMIT;
		own_stack_call(CXX_STACK, demangle_pieces, &demangled);
	}
	return demangled.good;
}

/*
 * Demangles a D name and adds it to `out`. Returns false when it cannot be demangled. Back
 * references can make the text very long, and libiberty has no limit for D names, so a bound on the
 * size is computed first.
 */
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

/* Returns whether the name has the prefix of mangled C++ names (_Z) or Rust names (_Z, _R). */
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
