"""The shapes of other services, so that their clients change nothing but an address."""
