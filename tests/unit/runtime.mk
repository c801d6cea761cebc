# Unit tests of src/runtime.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_julia_find tests/unit/test_julia_queues tests/unit/test_julia_tasks \
	tests/unit/test_pages_bounds tests/unit/test_python_find \
	tests/unit/test_python_layout \
	tests/unit/test_python_module
TESTS += tests/unit/test_julia_find tests/unit/test_julia_queues tests/unit/test_julia_tasks \
	tests/unit/test_pages_bounds tests/unit/test_python_find \
	tests/unit/test_python_layout \
	tests/unit/test_python_module
endif
julia_scene_files = tests/unit/julia_scene.c tests/unit/julia_scene.h
tests_unit_test_julia_find_SOURCES = tests/unit/test_julia_find.c $(julia_scene_files) \
	tests/unit/made_elf.c tests/unit/made_elf.h
# It reads its own DWARF.
tests_unit_test_julia_find_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -g
tests_unit_test_julia_find_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_julia_queues_SOURCES = tests/unit/test_julia_queues.c $(julia_scene_files)
tests_unit_test_julia_queues_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_julia_queues_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_julia_tasks_SOURCES = tests/unit/test_julia_tasks.c $(julia_scene_files)
tests_unit_test_julia_tasks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_julia_tasks_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_pages_bounds_SOURCES = tests/unit/test_pages_bounds.c
tests_unit_test_pages_bounds_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pages_bounds_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
python_offsets_files = tests/unit/python_offsets.c tests/unit/python_offsets.h
tests_unit_test_python_find_SOURCES = tests/unit/test_python_find.c
tests_unit_test_python_find_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_find_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_python_layout_SOURCES = tests/unit/test_python_layout.c $(python_offsets_files) \
	tests/unit/python_structures.c tests/unit/python_structures.h
# It reads its own DWARF.
tests_unit_test_python_layout_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -g
tests_unit_test_python_layout_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_python_module_SOURCES = tests/unit/test_python_module.c
tests_unit_test_python_module_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_module_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
