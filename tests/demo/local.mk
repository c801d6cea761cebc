# The program that `./bootstrap demo` samples. Not built by `make`.
demo_program_file = tests/demo/bin/jobserver
EXTRA_PROGRAMS += $(demo_program_file)
CLEANFILES += $(demo_program_file)
tests_demo_bin_jobserver_SOURCES = tests/demo/jobserver.c
tests_demo_bin_jobserver_LDADD = -lpthread

# A make of its own after "all": two makes that build the same objects at once would race.
demo-program: all
	$(MAKE) $(AM_MAKEFLAGS) $(demo_program_file)
.PHONY: demo-program
