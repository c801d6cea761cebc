# Documents need libcmark-gfm; the page also embeds JSON written by jansson.
libwallsample_a_SOURCES += \
	include/wallsample/web/flame.h \
	include/wallsample/web/html.h \
	src/web/flame.c \
	src/web/flame_svg.c
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
# The palette and the labels are those of the SVG exporters, too (src/format/local.mk).
html_css = src/web/palette.css src/web/report.css src/web/timeline.css
html_js = src/web/labels.js src/web/report.js src/web/timeline.js
html_assets = $(html_css) $(html_js)
EXTRA_DIST += $(html_assets) src/report/document.c include/wallsample/report/document.h \
	src/report/document_absent.c src/report/document_formats.c src/web/html.c \
	src/web/html_absent.c \
	src/web/html_data.c src/web/html_internal.h src/web/html_timeline.c
CLEANFILES += src/web/html_assets.c
src/web/html_assets.c: $(html_assets)
	$(AM_V_GEN)$(MKDIR_P) src/web && { \
		for name in css js; do \
			if test $$name = css; then parts='$(html_css)'; else parts='$(html_js)'; fi; \
			parts=$$(for part in $$parts; do echo $(srcdir)/$$part; done); \
			echo "extern const char html_$$name[];"; \
			echo "const char html_$$name[] ="; \
			cat $$parts | $(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' || exit 1; \
			echo ';'; \
			hash=$$({ echo; cat $$parts || exit 1; } | \
				sha256sum | $(SED) -e 's/ .*//' -e 's/../\\x&/g'); \
			echo "extern const char html_$${name}_hash[];"; \
			echo "const char html_$${name}_hash[] =" \
				"\"$$(env printf "$$hash" | base64)\";"; \
		done; } >$@.new && mv $@.new $@
