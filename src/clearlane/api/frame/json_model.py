"""The base of the JSON shapes that the OpenAPI document describes."""

from pydantic import BaseModel, ConfigDict


class JsonModel(BaseModel):
    """A JSON shape. What checks values is built at its first use: most nodes are never asked for the document."""

    model_config = ConfigDict(defer_build=True)
