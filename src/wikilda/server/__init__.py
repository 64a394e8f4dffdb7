"""The server: an API, the APIs of other services, and a page. It needs the extra `server`."""
