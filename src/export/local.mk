libwallsample_a_SOURCES += \
	src/export/columns.c \
	src/export/columns.h \
	src/export/display.c \
	src/export/display.h \
	src/export/export.c \
	src/export/exporters.h \
	src/export/folded.c \
	src/export/json.c \
	src/export/page.h \
	src/export/pprof.c \
	src/export/quantity.c \
	src/export/quantity.h \
	src/export/report.c \
	src/export/report.h \
	src/export/report_cells.c \
	src/export/report_cost.c \
	src/export/report_parallelism.c \
	src/export/report_summary.c \
	src/export/report_tree.c \
	src/export/text.c

# What protoc-c makes goes into a folder of its own, and into releases, which so need no protoc-c.
pprof_generated = generated/pprof.pb-c.c generated/pprof.pb-c.h
libwallsample_a_SOURCES += $(pprof_generated)
EXTRA_DIST += src/export/pprof.proto
generated/pprof.pb-c.c: src/export/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) generated && \
		$(PROTOC_C) --proto_path=$(srcdir)/src/export --c_out=generated pprof.proto
generated/pprof.pb-c.h: generated/pprof.pb-c.c
src/export/libwallsample_a-pprof.$(OBJEXT): generated/pprof.pb-c.h
