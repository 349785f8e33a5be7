//! Storage engines from the registry, unmodified, on the simulated disk: see `tests/`.
