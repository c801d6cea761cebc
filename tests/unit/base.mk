if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_base
TESTS += tests/unit/test_base
endif
tests_unit_test_base_SOURCES = tests/unit/test_base.c
tests_unit_test_base_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_base_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_table
TESTS += tests/unit/test_table
endif
tests_unit_test_table_SOURCES = tests/unit/test_table.c
tests_unit_test_table_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_table_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_histogram
TESTS += tests/unit/test_histogram
endif
tests_unit_test_histogram_SOURCES = tests/unit/test_histogram.c
tests_unit_test_histogram_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_histogram_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_options
TESTS += tests/unit/test_options
endif
tests_unit_test_options_SOURCES = tests/unit/test_options.c
tests_unit_test_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_options_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
