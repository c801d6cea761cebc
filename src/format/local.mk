libwallsample_a_SOURCES += \
	include/wallsample/format/exporters.h \
	src/format/causal_svg.c \
	src/format/chrome.c \
	src/format/coz.c \
	src/format/export.c \
	src/format/folded.c \
	src/format/format_internal.h \
	src/format/json.c \
	src/format/json_causal.c \
	src/format/json_diff.c \
	src/format/json_dump.c \
	src/format/perf.c \
	src/format/pprof.c \
	src/format/pprof_stream.c \
	src/format/speedscope.c \
	src/format/svg.c

# The files that protoc-c generates are in a directory of their own. Releases contain them, so that
# a build of a release needs no protoc-c.
pprof_generated = generated/pprof.pb-c.c generated/pprof.pb-c.h
libwallsample_a_SOURCES += $(pprof_generated)
EXTRA_DIST += src/format/pprof.proto
generated/pprof.pb-c.c: src/format/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) generated && \
		$(PROTOC_C) --proto_path=$(srcdir)/src/format --c_out=generated pprof.proto
generated/pprof.pb-c.h: generated/pprof.pb-c.c
src/format/libwallsample_a-pprof.$(OBJEXT): generated/pprof.pb-c.h

# The style sheets of the SVG exporters and the script of the flame graph, converted to C strings.
as_text = $(AM_V_GEN)$(MKDIR_P) generated && \
	$(SED) -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/'
EXTRA_DIST += src/format/causal.css src/format/flame.css src/format/flame.js
CLEANFILES += generated/causal.css.h generated/flame.css.h generated/flame.js.h
generated/causal.css.h: src/format/causal.css
	$(as_text) $(srcdir)/src/format/causal.css >$@
src/format/libwallsample_a-causal_svg.$(OBJEXT): generated/causal.css.h
generated/flame.css.h: src/format/flame.css
	$(as_text) $(srcdir)/src/format/flame.css >$@
generated/flame.js.h: src/format/flame.js
	$(as_text) $(srcdir)/src/format/flame.js >$@
src/format/libwallsample_a-svg.$(OBJEXT): generated/flame.css.h generated/flame.js.h
