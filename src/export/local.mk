libwallsample_a_SOURCES += \
	src/export/causal_svg.c \
	src/report/causal_words.c include/wallsample/report/causal_words.h \
	src/export/chrome.c \
	src/report/columns.c \
	src/report/columns_internal.h \
	src/export/coz.c \
	src/report/display.c \
	include/wallsample/report/display.h \
	src/export/export.c \
	include/wallsample/report/exporters.h \
	src/export/folded.c \
	src/report/time/gil_spans.c include/wallsample/report/gil_spans.h \
	src/export/json.c \
	src/export/json_causal.c \
	src/export/json_diff.c \
	src/export/json_dump.c \
	src/export/json_parts.c \
	src/export/json_parts.h \
	src/report/json_stream.c \
	include/wallsample/report/json_stream.h \
	src/export/json_tasks.c \
	src/export/json_gil.c src/export/json_task_table.c src/export/json_waits.c \
	src/report/page_internal.h \
	src/report/time/parallelism_split.c \
	include/wallsample/report/parallelism_split.h \
	src/export/perf.c \
	src/report/plot.c src/report/plot_internal.h src/report/plot_svg.c \
	src/export/pprof.c \
	src/export/pprof_stream.c \
	src/export/pprof_stream.h \
	src/report/quantity.c \
	include/wallsample/report/quantity.h \
	src/report/report.c \
	include/wallsample/report/report.h \
	src/report/report_causal.c src/report/report_causal_cost.c \
	src/report/report_cells.c \
	src/report/report_cost.c \
	src/report/report_diff.c \
	src/report/report_parallelism.c \
	src/report/report_summary.c \
	src/report/report_deadlock.c src/report/report_gil.c src/report/report_tree.c \
	src/report/report_threads.c src/report/report_waiting.c \
	src/report/report_words.c \
	src/export/speedscope.c \
	src/export/svg.c \
	src/report/text.c \
	src/report/text_dump.c \
	src/report/text_dump_internal.h \
	src/report/text_tasks.c \
	src/report/text_tasks_internal.h \
	src/report/time/tick_levels.c \
	src/report/time/tick_levels_internal.h \
	src/report/time/waiting_bins.c src/report/time/waiting_bins_internal.h src/report/time/timeline.c \
	include/wallsample/report/timeline.h \
	src/report/time/timeline_bins.c \
	include/wallsample/report/timeline_bins.h \
	src/report/xml_text.c include/wallsample/report/xml_text.h

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
	src/report/document.c \
	include/wallsample/report/document.h \
	src/report/document_formats.c \
	src/web/html.c \
	src/web/html_data.c \
	src/web/html_data_internal.h \
	src/web/html_timeline.c \
	src/web/html_timeline_internal.h
nodist_libwallsample_a_SOURCES = src/export/html_assets.c
else
libwallsample_a_SOURCES += src/report/document_absent.c
endif

# The page's styles and scripts as the bytes of two arrays.
html_parts = report timeline
html_assets = src/web/report.css src/web/report.js src/web/timeline.css \
	src/web/timeline.js
EXTRA_DIST += $(html_assets) src/report/document.c include/wallsample/report/document.h \
	src/report/document_absent.c src/report/document_formats.c src/web/html.c \
	src/web/html_data.c src/web/html_data_internal.h src/web/html_timeline.c \
	src/web/html_timeline_internal.h
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
