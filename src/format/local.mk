libwallsample_a_SOURCES += \
	include/wallsample/format/exporters.h \
	src/format/causal_svg.c \
	src/format/chrome.c \
	src/format/chrome_counters.c \
	src/format/chrome_internal.h \
	src/format/coz.c \
	src/format/export.c \
	src/format/firefox.c \
	src/format/firefox_category.c \
	src/format/firefox_internal.h \
	src/format/firefox_markers.c \
	src/format/firefox_tables.c \
	src/format/folded.c \
	src/format/format_internal.h \
	src/format/json.c \
	src/format/json_causal.c \
	src/format/json_diff.c \
	src/format/json_dump.c \
	src/format/perf.c \
	src/format/perf_data.c \
	src/format/perf_data_internal.h \
	src/format/perf_data_places.c \
	src/format/perf_data_records.c \
	src/format/perf_data_stream.c \
	src/format/perf_data_weights.c \
	src/format/pprof.c \
	src/format/process_tracks.c \
	src/format/process_tracks_internal.h \
	src/format/pprof_labels.c \
	src/format/pprof_stream.c \
	src/format/speedscope.c \
	src/format/svg.c \
	src/format/tick_records.c \
	src/format/tick_records_internal.h

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

# The style sheets of the SVG exporters and the scripts of the flame graph, converted to C strings.
as_text = $(AM_V_GEN)$(MKDIR_P) generated && \
	$(SED) -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/'
EXTRA_DIST += src/format/causal.css src/format/flame.css src/format/flame.js
CLEANFILES += generated/causal.css.h generated/flame.css.h generated/flame.js.h \
	generated/labels.js.h generated/palette.css.h
generated/causal.css.h: src/format/causal.css
	$(as_text) $(srcdir)/src/format/causal.css >$@
generated/flame.css.h: src/format/flame.css
	$(as_text) $(srcdir)/src/format/flame.css >$@
generated/flame.js.h: src/format/flame.js
	$(as_text) $(srcdir)/src/format/flame.js >$@
generated/labels.js.h: src/web/labels.js
	$(as_text) $(srcdir)/src/web/labels.js >$@
generated/palette.css.h: src/web/palette.css
	$(as_text) $(srcdir)/src/web/palette.css >$@
src/format/libwallsample_a-causal_svg.$(OBJEXT): generated/causal.css.h generated/palette.css.h
src/format/libwallsample_a-svg.$(OBJEXT): generated/flame.css.h generated/flame.js.h \
	generated/labels.js.h generated/palette.css.h
