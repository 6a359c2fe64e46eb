//! The guard for this crate's own tests. The harness has the `main` of a test binary, so no test can call
//! [`kitbag::guard::init`] first in it; tests start servers under this program instead (`Launcher::Other`).
//!
//! It is a `[[bin]]`, because cargo builds binaries of the crate under test before its integration tests, with the
//! same features, and tells them the path (`CARGO_BIN_EXE_kitbag-guard`): `cargo test` and nextest need nothing else,
//! whichever tests are selected. An example would not be built for `--test it`, and a second run of cargo would build
//! the whole library again with other features. The file stands below `tests`, which the published package leaves
//! out, and the binary with it.

fn main() {
    kitbag::guard::init();
}
