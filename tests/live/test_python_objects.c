/* SPDX-License-Identifier: MIT */
/*
 * test_python_objects.c - the code objects of each CPython that is installed, as they are in its
 * memory: python_objects.py says where they are, what they are called and what their lines are.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "runtime/python/python_layout_internal.h"
#include "harness.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/process_memory.h"

struct interpreter {
	pid_t pid;
	int in;      /* its end is the interpreter's */
	FILE *out;
	char *line;
	size_t capacity;
	struct python_layout layout;
	struct memory memory;
	struct python_codes *codes;
	unsigned checked;
};

static bool
read_process(void *context, uint64_t address, void *to, size_t size)
{
	const struct interpreter *interpreter = context;

	return memory_read_process(interpreter->pid, address, to, size) == size;
}

/* Offsets of what is read here, which are those of x86-64 and aarch64. */
static bool
choose_layout(struct python_layout *layout, unsigned minor, bool free_threaded)
{
	static const struct {
		uint32_t filename, qualified, first_line, instructions, characters;
	} row[] = {
		[8] = { 104, MEMBER_ABSENT, 40, MEMBER_ABSENT, 48 },
		[9] = { 104, MEMBER_ABSENT, 40, MEMBER_ABSENT, 48 },
		[10] = { 104, MEMBER_ABSENT, 40, MEMBER_ABSENT, 48 },
		[11] = { 112, 128, 72, 184, 48 },
		[12] = { 112, 128, 68, 192, 40 },
		[13] = { 112, 128, 68, 200, 40 },
		[14] = { 112, 128, 68, 208, 40 },
		[15] = { 112, 128, 68, 208, 40 },
	};
	/* Every object is so much longer in front. */
	uint32_t more = free_threaded ? 16 : 0;

	if (minor < 8 || minor >= ARRAY_SIZE(row))
		return false;
	*layout = (struct python_layout){
		.version = PYTHON_VERSION(3, minor),
		.free_threaded = free_threaded,
		.code_filename = row[minor].filename + more,
		.code_name = row[minor].filename + 8 + more,
		.code_qualified_name = row[minor].qualified,
		.code_line_table = row[minor].filename + (minor < 11 ? 16 : 24) + more,
		.code_first_line = row[minor].first_line + more,
		.code_instructions = row[minor].instructions,
		.code_bytecodes = MEMBER_ABSENT,
		.text_length = 16 + more,
		.text_state = 32 + more,
		.text_ascii = row[minor].characters + more,
		.text_compact = row[minor].characters + (minor < 12 ? 24 : 16) + more,
		.bytes_size = 16 + more,
		.bytes_data = 32 + more,
		.object_type = 8 + more,
		.type_name = 24 + more,
	};
	if (minor >= 11)
		layout->code_qualified_name += more;
	if (minor >= 11)
		layout->code_instructions += more;
	/* the array of copies stands before it */
	if (minor >= 14 && free_threaded) {
		layout->code_bytecodes = row[minor].instructions + more;
		layout->code_instructions += 8;
	}
	layout->code_size = layout->code_line_table + 8;
	return true;
}

static bool
start(struct interpreter *interpreter, const char *program, const char *script)
{
	int in[2], out[2];

	*interpreter = (struct interpreter){ .memory = { read_process, interpreter } };
	if (pipe(in) != 0 || pipe(out) != 0)
		harness_die("no pipe");
	interpreter->pid = fork();
	if (interpreter->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		execl(program, program, "-I", "-S", "-B", script, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	interpreter->in = in[1];
	interpreter->out = fdopen(out[0], "r");
	return interpreter->pid > 0 && interpreter->out != NULL;
}

static int
finish(struct interpreter *interpreter)
{
	int status = 0;

	close(interpreter->in);
	fclose(interpreter->out);
	free(interpreter->line);
	if (interpreter->codes != NULL)
		python_codes_free(interpreter->codes);
	waitpid(interpreter->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The text of "68656c6c6f", or of "-", in fresh memory. */
static char *
decode(const char *digits)
{
	size_t length = strcmp(digits, "-") == 0 ? 0 : strlen(digits) / 2;
	char *text = xcalloc(1, length + 1);

	for (size_t i = 0; i < length; i++) {
		char two[3] = { digits[2 * i], digits[2 * i + 1], '\0' };
		const char *cursor = two;
		uint64_t byte = 0;

		if (!parse_u64(&cursor, 16, &byte))
			harness_die("no digits: %.60s", digits);
		text[i] = (char)byte;
	}
	return text;
}

static bool
identify(struct interpreter *interpreter, uint64_t address, struct python_code_id *id)
{
	uint8_t bytes[256];

	if (!read_process(interpreter, address, bytes, interpreter->layout.code_size))
		return false;
	*id = python_code_identify(&interpreter->layout, address, bytes);
	return true;
}

/* What a frame of the version has for the instruction at this offset. */
static uint64_t
instruction_of(const struct python_layout *layout, uint64_t address, uint64_t offset)
{
	if (python_since(layout, 3, 11))
		return address + layout->code_instructions + offset;
	return python_since(layout, 3, 10) ? offset / 2 : offset;
}

/* Each run of instructions begins with its line, and the one before ends there. */
static void
check_lines(struct interpreter *interpreter, const struct python_code_id *id, const char *runs)
{
	const struct python_layout *layout = &interpreter->layout;
	uint64_t offset, line, last = id->first_line;

	while (parse_u64(&runs, 10, &offset) && *runs++ == ':' && parse_u64(&runs, 10, &line)) {
		uint64_t at = instruction_of(layout, id->address, offset);
		uint32_t ours = python_codes_line(interpreter->codes, id, at, 0);

		CHECK(ours == line, "at %u: line %u, and not %u", (unsigned)offset, ours,
		      (unsigned)line);
		at = instruction_of(layout, id->address, offset - 2);
		if (offset > 0) {
			ours = python_codes_line(interpreter->codes, id, at, 0);
			CHECK(ours == last, "before %u: line %u, and not %u", (unsigned)offset,
			      ours, (unsigned)last);
		}
		last = line;
		interpreter->checked++;
	}
}

/* "ADDRESS FIRST_LINE NAME FILE OFFSET:LINE ..." */
static void
check_code(struct interpreter *interpreter, const char *text)
{
	uint64_t address = 0, first_line = 0;
	char *words, *rest, *name, *file;
	const struct python_code *code;
	struct python_code_id id;

	if (!parse_u64(&text, 10, &address) || !parse_u64(&text, 10, &first_line) || *text != ' ')
		harness_die("no code: %.60s", text);
	rest = words = xstrdup(text + 1);
	name = decode(strsep(&rest, " "));
	file = decode(rest != NULL ? strsep(&rest, " ") : "-");
	if (CHECK(identify(interpreter, address, &id), "%s is not there", name)) {
		harness_note("%s in %s", name, file);
		code = python_codes_find(interpreter->codes, &id);
		if (CHECK(code != NULL, "%s is none", name)) {
			CHECK(strcmp(code->function, name) == 0, "%s, and not %s", code->function,
			      name);
			CHECK(strcmp(code->file, file) == 0, "%s, and not %s", code->file, file);
			CHECK(code->first_line == first_line, "line %u", code->first_line);
			check_lines(interpreter, &id, rest != NULL ? rest : "");
		}
	}
	free(words);
	free(name);
	free(file);
}

/* What is not a code object is not taken for one. */
static void
check_none(struct interpreter *interpreter, const char *text)
{
	struct python_code_id id;
	uint64_t address = 0;

	if (!parse_u64(&text, 10, &address))
		harness_die("no address: %.60s", text);
	if (identify(interpreter, address, &id))
		CHECK(python_codes_find(interpreter->codes, &id) == NULL, "0x%llx is code",
		      (unsigned long long)address);
}

static bool
next_line(struct interpreter *interpreter)
{
	ssize_t length = getline(&interpreter->line, &interpreter->capacity, interpreter->out);

	if (length > 0)
		interpreter->line[length - 1] = '\0';
	return length > 0;
}

/*
 * All lines are read before any is checked: while it still writes, objects come and go, though not
 * those that it names.
 */
static void
check_interpreter(const char *program, const char *script)
{
	struct interpreter interpreter;
	unsigned pid, minor, free_threaded;
	struct strbuf all;
	char *rest, *line;
	int status;

	strbuf_init(&all);
	if (!start(&interpreter, program, script))
		harness_die("%s cannot be started", program);
	if (!next_line(&interpreter)) {
		/* 127: a shell that finds no program behind the name */
		status = finish(&interpreter);
		CHECK(status == 0 || status == 127, "it ends with %d and says nothing", status);
		harness_skip("no CPython from 3.8 on");
		return;
	}
	if (sscanf(interpreter.line, "python %u %u %u", &pid, &minor, &free_threaded) != 3)
		harness_die("%s says %s", program, interpreter.line);
	if (pid != (unsigned)interpreter.pid ||
	    !choose_layout(&interpreter.layout, minor, free_threaded != 0)) {
		finish(&interpreter);
		harness_skip("3.%u, or not the process that was started", minor);
		return;
	}
	interpreter.codes = python_codes_create(&interpreter.layout, &interpreter.memory);
	while (next_line(&interpreter) && strcmp(interpreter.line, "ready") != 0)
		strbuf_add_format(&all, "%s\n", interpreter.line);
	CHECK(interpreter.line != NULL && strcmp(interpreter.line, "ready") == 0, "it has ended");
	for (rest = all.data; rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
		if (strncmp(line, "code ", 5) == 0)
			check_code(&interpreter, line + 5);
		else if (strncmp(line, "none ", 5) == 0)
			check_none(&interpreter, line + 5);
	}
	printf("3.%u%s: %u runs of lines\n", minor, free_threaded != 0 ? "t" : "",
	       interpreter.checked);
	CHECK(interpreter.checked > 1000, "only %u lines", interpreter.checked);
	strbuf_release(&all);
	CHECK(finish(&interpreter) == 0, "it has failed");
}

/* Is it another file than those before it, and no python3.11-config? */
static bool
is_another(const glob_t *found, size_t index)
{
	char *path = realpath(found->gl_pathv[index], NULL), *other;
	bool another = path != NULL && strchr(strrchr(path, '/'), '-') == NULL;

	for (size_t i = 0; another && i < index; i++) {
		other = realpath(found->gl_pathv[i], NULL);
		another = other == NULL || strcmp(path, other) != 0;
		free(other);
	}
	free(path);
	return another;
}

static void
find_interpreters(glob_t *found)
{
	const char *home = getenv("HOME"), *root = getenv("PYENV_ROOT");
	char *path = xstrdup(getenv("PATH") != NULL ? getenv("PATH") : "/usr/bin"), *rest = path;
	char pattern[4096];
	int flags = 0;

	for (const char *folder; (folder = strsep(&rest, ":")) != NULL; flags = GLOB_APPEND) {
		snprintf(pattern, sizeof(pattern), "%s/python3.*", folder);
		glob(pattern, flags, NULL, found);
	}
	snprintf(pattern, sizeof(pattern), "%s%s/versions/3.*/bin/python3",
		 root != NULL ? root : home != NULL ? home : "", root != NULL ? "" : "/.pyenv");
	glob(pattern, flags, NULL, found);
	free(path);
}

int
main(void)
{
	const char *top = getenv("SOURCE");
	char script[4096];
	glob_t found = { 0 };

	harness_begin(300);
	snprintf(script, sizeof(script), "%s/tests/live/python_objects.py",
		 top != NULL ? top : ".");
	find_interpreters(&found);
	if (found.gl_pathc == 0) {
		harness_case("interpreters");
		harness_skip("there is no python3");
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (!is_another(&found, i))
			continue;
		harness_case("%s", found.gl_pathv[i]);
		check_interpreter(found.gl_pathv[i], script);
	}
	globfree(&found);
	return harness_end();
}
