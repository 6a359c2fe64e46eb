//! Names every benchmark once, so that README and CI can say `cargo xtask bench <name>` and the way it is
//! started may change.

use anyhow::bail;

use crate::{Usage, shell, unknown};

const BENCHES: &[Bench] = &[
    Bench { name: "config", package: "kitbag", example: "bench_config" },
    Bench { name: "world", package: "kitbag", example: "bench_world" },
    Bench { name: "catalog", package: "kitbag", example: "bench_catalog" },
    Bench { name: "present", package: "kitbag", example: "bench_present" },
    Bench { name: "connect", package: "kitbag", example: "bench_connect" },
    Bench { name: "link", package: "kitbag", example: "bench_link" },
    Bench { name: "http", package: "kitbag", example: "bench_http" },
    Bench { name: "allocations", package: "kitbag", example: "bench_allocations" },
];

struct Bench {
    name: &'static str,
    package: &'static str,
    example: &'static str,
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let names = || BENCHES.iter().map(|bench| bench.name);
    let Some((name, rest)) = args.split_first() else {
        bail!(Usage(format!("name a benchmark: {}", names().collect::<Vec<_>>().join(", "))));
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        return Err(unknown("benchmark", name, names()));
    };
    let mut cargo =
        shell::cargo(&["run", "--release", "--package", bench.package, "--example", bench.example]);
    shell::run(cargo.arg("--").args(rest))
}
