"""A wheel with compiled kernels is for one Python and one platform; one without is for all."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Tags the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look whether there are kernels."""
        if (Path(self.root) / "src" / "wikilda" / "_kernels" / "kernels.json").is_file():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
