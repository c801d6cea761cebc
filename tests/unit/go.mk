# Unit tests of src/runtime: Go.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_go_tasks
TESTS += tests/unit/test_go_tasks
endif
tests_unit_test_go_tasks_SOURCES = tests/unit/test_go_tasks.c
tests_unit_test_go_tasks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_go_tasks_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
