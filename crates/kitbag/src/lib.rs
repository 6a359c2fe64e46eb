//! Kitbag.
