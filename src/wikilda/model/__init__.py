"""The parameters λ̂ of words and mentions: made from knowledge, stored, opened."""

from wikilda.model.create import create_model
from wikilda.model.model import Model, Parameters
from wikilda.model.settings import PRESETS, ModelSettings
from wikilda.model.writer import ModelWriter

__all__ = ["PRESETS", "Model", "ModelSettings", "ModelWriter", "Parameters", "create_model"]
