"""The server: an API, the shapes of other services, and a page. It needs the extra `server`."""
