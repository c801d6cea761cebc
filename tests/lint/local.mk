# What can be said about the tree without running anything but the compiler and --help.
lint_tests = \
	tests/lint/elf_calls.sh \
	tests/lint/file_names.sh \
	tests/lint/format.sh \
	tests/lint/globals.sh \
	tests/lint/groups.sh \
	tests/lint/headers_alone.sh \
	tests/lint/languages.sh \
	tests/lint/layering.sh \
	tests/lint/libraries.sh \
	tests/lint/manual.sh \
	tests/lint/names.sh \
	tests/lint/option_types.sh \
	tests/lint/ptrace_calls.sh \
	tests/lint/scripts.sh \
	tests/lint/sizes.sh \
	tests/lint/spdx.sh \
	tests/lint/syscall_names.sh \
	tests/lint/words.sh
TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests) tests/lint/groups.py tests/lint/names.py tests/lint/words.txt
