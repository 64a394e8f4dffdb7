"""Identities for the nodes of knowledge graphs: which nodes are the same thing, and its article."""

from wikilda.integrations.graphs.identify import Identified, identify, read_identities, write_identities
from wikilda.integrations.graphs.nodes import Node, read_nodes

__all__ = ["Identified", "Node", "identify", "read_identities", "read_nodes", "write_identities"]
