"""MediaWiki: dumps, pages, wikitext, titles."""
