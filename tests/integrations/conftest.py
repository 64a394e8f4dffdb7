from tests.linking.conftest import linker, model

__all__ = ["linker", "model"]
