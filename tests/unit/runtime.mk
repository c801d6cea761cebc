# Unit tests of src/runtime.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_python_find
TESTS += tests/unit/test_python_find
endif
tests_unit_test_python_find_SOURCES = tests/unit/test_python_find.c
tests_unit_test_python_find_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_find_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
