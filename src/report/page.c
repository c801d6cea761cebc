/* SPDX-License-Identifier: MIT */
/* page.c - makes the text of the elements of a page. */
#include "wallsample/report/page.h"

/* Returns the escaped text, which the caller releases, and makes the page's text empty. */
static struct strbuf
take_text(struct page *page)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_escaped(&text, page->text.length > 0 ? page->text.data : "");
	strbuf_clear(&page->text);
	return text;
}

void
page_add(struct page *page, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_add_arguments(&page->text, format, args);
	va_end(args);
}

void
page_end(struct page *page, void (*write)(struct page *page, const char *text))
{
	struct strbuf text = take_text(page);

	write(page, text.data);
	strbuf_release(&text);
}

void
page_write(struct page *page, void (*write)(struct page *page, const char *text),
	   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_add_arguments(&page->text, format, args);
	va_end(args);
	page_end(page, write);
}

void
page_end_field(struct page *page, const char *label)
{
	struct strbuf text = take_text(page);

	page->ops->field(page, label, text.data);
	strbuf_release(&text);
}

void
page_field(struct page *page, const char *label, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_add_arguments(&page->text, format, args);
	va_end(args);
	page_end_field(page, label);
}

void
page_line(struct page *page, const char *label, const char *value)
{
	struct strbuf text;

	page_add(page, "%s", value);
	text = take_text(page);
	page->ops->line(page, label, text.data);
	strbuf_release(&text);
}

void
page_item(struct page *page, const char *number, const char *other, const char *item)
{
	struct strbuf text;

	page_add(page, "%s", item);
	text = take_text(page);
	page->ops->item(page, number, other, text.data);
	strbuf_release(&text);
}
