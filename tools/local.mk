# Prints a column of src/runtime/python/python_table.c, from a CPython with DWARF.
check_PROGRAMS += tools/python-layout
tools_python_layout_SOURCES = tools/python-layout.c
tools_python_layout_LDADD = $(WALLSAMPLE_LIBS)
# Prints the rows of src/runtime/go/go_layout.c, from a Go program with DWARF.
check_PROGRAMS += tools/go-layout
tools_go_layout_SOURCES = tools/go-layout.c
tools_go_layout_LDADD = $(WALLSAMPLE_LIBS)

# Writes the compiler's arguments for each file of the program, for editors and analysers.
program_files = $(filter %.c,$(libwallsample_a_SOURCES)) src/cli/main.c
compile_commands.json: Makefile
	$(AM_V_GEN)$(srcdir)/tools/compile-commands.py $(CC) $(DEFS) $(DEFAULT_INCLUDES) \
		$(libwallsample_a_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
		-- $(addprefix $(srcdir)/,$(filter-out generated/%,$(program_files))) >$@
CLEANFILES += compile_commands.json
EXTRA_DIST += tools/analyse.sh tools/compile-commands.py .clang-tidy

# Analyses the program with clang-tidy; fails on a finding that analyse.sh does not justify.
analyse: all compile_commands.json
	@$(srcdir)/tools/analyse.sh
# Formats the lines of C that differ from the last commit, staged or not, as .clang-format says;
# with FORMAT_SINCE=COMMIT, those that differ from that commit.
FORMAT_SINCE = HEAD
format:
	cd $(srcdir) && git clang-format-14 --force --style=file --extensions c,h $(FORMAT_SINCE)
.PHONY: analyse format

# Reports which lines the tests run, in coverage/ of the build directory. The report is also made when
# tests fail. COVERAGE_TESTS chooses other tests.
COVERAGE_TESTS = $(call tests_of,unit) $(call tests_of,replay) $(call tests_of,cli) $(call tests_of,fuzz)
coverage: all
	@command -v gcovr >/dev/null || { echo 'gcovr is missing'; exit 77; }
	@find src -name '*.gcno' | grep -q . || { echo 'configure with --enable-coverage'; exit 77; }
	-$(MAKE) $(AM_MAKEFLAGS) check TESTS="$(COVERAGE_TESTS)"
	$(MKDIR_P) coverage && gcovr --root $(srcdir) --filter '$(abs_top_srcdir)/src/' \
		--print-summary --txt coverage/lines.txt --html-details coverage/index.html .
.PHONY: coverage
# Makes src/thread/syscall_names_*.def from the kernel's headers or its own table.
EXTRA_DIST += tools/syscall-names
