# The program that `./bootstrap demo` samples. Not built by `make`.
demo_program_file = tests/demo/bin/jobserver
EXTRA_PROGRAMS += $(demo_program_file)
CLEANFILES += $(demo_program_file)
tests_demo_bin_jobserver_SOURCES = tests/demo/jobserver.c
tests_demo_bin_jobserver_LDADD = -lpthread

demo-program: wallsample$(EXEEXT) $(demo_program_file)
.PHONY: demo-program
