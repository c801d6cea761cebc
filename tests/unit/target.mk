# Unit tests of src/target.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_attach tests/unit/test_go_table tests/unit/test_image tests/unit/test_jit_elf \
	tests/unit/test_jit_julia tests/unit/test_jit_objects tests/unit/test_jit_unwind \
	tests/unit/test_launch tests/unit/test_maps tests/unit/test_process
TESTS += tests/unit/test_attach tests/unit/test_go_table tests/unit/test_image tests/unit/test_jit_elf \
	tests/unit/test_jit_julia tests/unit/test_jit_objects tests/unit/test_jit_unwind \
	tests/unit/test_launch tests/unit/test_maps tests/unit/test_process
if ARCH_X86_64
check_PROGRAMS += tests/unit/test_core
TESTS += tests/unit/test_core
endif
endif
tests_unit_test_core_SOURCES = tests/unit/test_core.c tests/unit/made_core.c \
	tests/unit/made_core.h
tests_unit_test_core_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
tests_unit_test_core_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_attach_SOURCES = tests/unit/test_attach.c
tests_unit_test_attach_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_attach_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_image_SOURCES = tests/unit/test_image.c
tests_unit_test_image_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_image_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_launch_SOURCES = tests/unit/test_launch.c
tests_unit_test_launch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_launch_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_maps_SOURCES = tests/unit/test_maps.c
tests_unit_test_maps_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_maps_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_process_SOURCES = tests/unit/test_process.c
tests_unit_test_process_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_process_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_jit_elf_SOURCES = tests/unit/test_jit_elf.c tests/unit/made_object.c \
	tests/unit/made_object.h
tests_unit_test_jit_elf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_jit_elf_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_jit_julia_SOURCES = tests/unit/test_jit_julia.c
tests_unit_test_jit_julia_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_jit_julia_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_jit_unwind_SOURCES = tests/unit/test_jit_unwind.c tests/unit/made_object.c \
	tests/unit/made_object.h
tests_unit_test_jit_unwind_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_jit_unwind_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_jit_objects_SOURCES = tests/unit/test_jit_objects.c tests/unit/made_object.c \
	tests/unit/made_object.h
tests_unit_test_jit_objects_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_jit_objects_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_go_table_SOURCES = tests/unit/test_go_table.c tests/unit/made_go.c \
	tests/unit/made_go.h
tests_unit_test_go_table_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_go_table_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
