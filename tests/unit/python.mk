# Unit tests of src/runtime: CPython.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_python_code tests/unit/test_python_lines \
	tests/unit/test_python_tasks
TESTS += tests/unit/test_python_code tests/unit/test_python_lines tests/unit/test_python_tasks
endif
tests_unit_test_python_code_SOURCES = tests/unit/test_python_code.c tests/unit/python_scene.c \
	tests/unit/python_scene.h
tests_unit_test_python_code_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_code_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_python_lines_SOURCES = tests/unit/test_python_lines.c
tests_unit_test_python_lines_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_lines_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_python_tasks_SOURCES = tests/unit/test_python_tasks.c tests/unit/python_offsets.c \
	tests/unit/python_offsets.h tests/unit/python_scene.c tests/unit/python_scene.h
tests_unit_test_python_tasks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_tasks_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
EXTRA_DIST += tests/replay/python_lines.py tests/replay/python_lines.txt
