libwallsample_a_SOURCES += \
	src/export/causal_svg.c \
	src/export/causal_words.c src/export/causal_words.h \
	src/export/chrome.c \
	src/export/columns.c \
	src/export/columns.h \
	src/export/coz.c \
	src/export/display.c \
	src/export/display.h \
	src/export/export.c \
	src/export/exporters.h \
	src/export/folded.c \
	src/export/gil_spans.c src/export/gil_spans.h \
	src/export/json.c \
	src/export/json_causal.c \
	src/export/json_diff.c \
	src/export/json_dump.c \
	src/export/json_parts.c \
	src/export/json_parts.h \
	src/export/json_stream.c \
	src/export/json_stream.h \
	src/export/json_tasks.c \
	src/export/json_gil.c src/export/json_task_table.c src/export/json_waits.c \
	src/export/page.h \
	src/export/parallelism_split.c \
	src/export/parallelism_split.h \
	src/export/perf.c \
	src/export/plot.c src/export/plot.h src/export/plot_svg.c \
	src/export/pprof.c \
	src/export/pprof_stream.c \
	src/export/pprof_stream.h \
	src/export/quantity.c \
	src/export/quantity.h \
	src/export/report.c \
	src/export/report.h \
	src/export/report_causal.c src/export/report_causal_cost.c \
	src/export/report_cells.c \
	src/export/report_cost.c \
	src/export/report_diff.c \
	src/export/report_parallelism.c \
	src/export/report_summary.c \
	src/export/report_deadlock.c src/export/report_gil.c src/export/report_tree.c \
	src/export/report_threads.c src/export/report_waiting.c \
	src/export/report_words.c \
	src/export/speedscope.c \
	src/export/svg.c \
	src/export/text.c \
	src/export/text_dump.c \
	src/export/text_dump.h \
	src/export/text_tasks.c \
	src/export/text_tasks.h \
	src/export/tick_levels.c \
	src/export/tick_levels.h \
	src/export/waiting_bins.c src/export/waiting_bins.h src/export/timeline.c \
	src/export/timeline.h \
	src/export/timeline_bins.c \
	src/export/timeline_bins.h \
	src/export/xml_text.c src/export/xml_text.h

# What protoc-c makes goes into a folder of its own, and into releases, which so need no protoc-c.
pprof_generated = generated/pprof.pb-c.c generated/pprof.pb-c.h
libwallsample_a_SOURCES += $(pprof_generated)
EXTRA_DIST += src/export/pprof.proto
generated/pprof.pb-c.c: src/export/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) generated && \
		$(PROTOC_C) --proto_path=$(srcdir)/src/export --c_out=generated pprof.proto
generated/pprof.pb-c.h: generated/pprof.pb-c.c
src/export/libwallsample_a-pprof.$(OBJEXT): generated/pprof.pb-c.h

# Documents want libcmark-gfm, and the HTML one has data of jansson.
if HAVE_CMARK
libwallsample_a_SOURCES += \
	src/export/document.c \
	src/export/document.h \
	src/export/document_formats.c \
	src/export/html.c \
	src/export/html_data.c \
	src/export/html_data.h \
	src/export/html_timeline.c \
	src/export/html_timeline.h
nodist_libwallsample_a_SOURCES = src/export/html_assets.c
else
libwallsample_a_SOURCES += src/export/document_absent.c
endif

# The page's styles and scripts as the bytes of two arrays.
html_parts = report timeline
html_assets = src/export/report.css src/export/report.js src/export/timeline.css \
	src/export/timeline.js
EXTRA_DIST += $(html_assets) src/export/document.c src/export/document.h \
	src/export/document_absent.c src/export/document_formats.c src/export/html.c \
	src/export/html_data.c src/export/html_data.h src/export/html_timeline.c \
	src/export/html_timeline.h
CLEANFILES += src/export/html_assets.c
src/export/html_assets.c: $(html_assets)
	$(AM_V_GEN)$(MKDIR_P) src/export && { \
		for name in css js; do \
			echo "extern const char html_$$name[];"; \
			echo "const char html_$$name[] ="; \
			for part in $(html_parts); do \
				$(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' \
					$(srcdir)/src/export/$$part.$$name; \
			done; \
			echo ';'; \
		done; } >$@.new && mv $@.new $@

# Styles of pictures and the script of the flame graph, as text in C.
as_text = $(AM_V_GEN)$(MKDIR_P) generated && \
	$(SED) -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/'
EXTRA_DIST += src/export/causal.css src/export/flame.css src/export/flame.js
CLEANFILES += generated/causal.css.h generated/flame.css.h generated/flame.js.h
generated/causal.css.h: src/export/causal.css
	$(as_text) $(srcdir)/src/export/causal.css >$@
src/export/libwallsample_a-causal_svg.$(OBJEXT): generated/causal.css.h
generated/flame.css.h: src/export/flame.css
	$(as_text) $(srcdir)/src/export/flame.css >$@
generated/flame.js.h: src/export/flame.js
	$(as_text) $(srcdir)/src/export/flame.js >$@
src/export/libwallsample_a-svg.$(OBJEXT): generated/flame.css.h generated/flame.js.h
