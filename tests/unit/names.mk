# Names.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_dwarf_lines tests/unit/test_dwarf_hostile
TESTS += tests/unit/test_dwarf_lines tests/unit/test_dwarf_hostile
endif
tests_unit_test_dwarf_lines_SOURCES = tests/unit/test_dwarf_lines.c
tests_unit_test_dwarf_lines_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_dwarf_lines_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_dwarf_hostile_SOURCES = tests/unit/test_dwarf_hostile.c
tests_unit_test_dwarf_hostile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_dwarf_hostile_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_debug_file tests/unit/test_debug_split tests/unit/test_debuginfod \
	tests/unit/test_debug_package
TESTS += tests/unit/test_debug_file tests/unit/test_debug_split tests/unit/test_debuginfod \
	tests/unit/test_debug_package
endif
debug_scene_files = tests/unit/debug_scene.c tests/unit/debug_scene.h
tests_unit_test_debug_file_SOURCES = tests/unit/test_debug_file.c $(debug_scene_files)
tests_unit_test_debug_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_debug_file_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_debug_split_SOURCES = tests/unit/test_debug_split.c $(debug_scene_files)
tests_unit_test_debug_split_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_debug_split_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_debug_package_SOURCES = tests/unit/test_debug_package.c \
	tests/unit/made_package.c tests/unit/made_package.h $(debug_scene_files)
tests_unit_test_debug_package_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_debug_package_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_debuginfod_SOURCES = tests/unit/test_debuginfod.c $(debug_scene_files)
tests_unit_test_debuginfod_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_debuginfod_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_plt_names tests/unit/test_code_ranges
TESTS += tests/unit/test_plt_names tests/unit/test_code_ranges
endif
tests_unit_test_plt_names_SOURCES = tests/unit/test_plt_names.c
tests_unit_test_plt_names_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_plt_names_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_code_ranges_SOURCES = tests/unit/test_code_ranges.c
tests_unit_test_code_ranges_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_code_ranges_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
