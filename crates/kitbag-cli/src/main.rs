//! The kitbag binary.
fn main() {}
