//! Deterministic simulation: sweep, replay, reports
