"""wikilda inside other people's pipelines; each module needs the library that it is for."""
