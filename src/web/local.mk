# Documents need libcmark-gfm; the page also embeds JSON written by jansson.
libwallsample_a_SOURCES += include/wallsample/web/html.h
if HAVE_CMARK
libwallsample_a_SOURCES += \
	src/report/document.c \
	include/wallsample/report/document.h \
	src/report/document_formats.c \
	src/web/html.c \
	src/web/html_data.c \
	src/web/html_internal.h \
	src/web/html_timeline.c
nodist_libwallsample_a_SOURCES = src/web/html_assets.c
else
libwallsample_a_SOURCES += src/report/document_absent.c src/web/html_absent.c
endif

# The style sheets and scripts of the page, converted to two C strings, html_css and html_js, and the
# base64 of the SHA-256 of what stands between the tags of the page: a newline, then this string.
html_parts = report timeline
html_assets = src/web/report.css src/web/report.js src/web/timeline.css \
	src/web/timeline.js
EXTRA_DIST += $(html_assets) src/report/document.c include/wallsample/report/document.h \
	src/report/document_absent.c src/report/document_formats.c src/web/html.c \
	src/web/html_absent.c \
	src/web/html_data.c src/web/html_internal.h src/web/html_timeline.c
CLEANFILES += src/web/html_assets.c
src/web/html_assets.c: $(html_assets)
	$(AM_V_GEN)$(MKDIR_P) src/web && { \
		for name in css js; do \
			echo "extern const char html_$$name[];"; \
			echo "const char html_$$name[] ="; \
			for part in $(html_parts); do \
				$(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' \
					$(srcdir)/src/web/$$part.$$name; \
			done; \
			echo ';'; \
			hash=$$({ echo; for part in $(html_parts); do \
				cat $(srcdir)/src/web/$$part.$$name || exit 1; \
			done; } | sha256sum | $(SED) -e 's/ .*//' -e 's/../\\x&/g'); \
			echo "extern const char html_$${name}_hash[];"; \
			echo "const char html_$${name}_hash[] =" \
				"\"$$(env printf "$$hash" | base64)\";"; \
		done; } >$@.new && mv $@.new $@
