//! Names every benchmark once, so that README and CI can say `cargo xtask bench <name>` and the way it is
//! started may change.

use anyhow::bail;

use crate::{Usage, needs, shell, unknown};

const BENCHES: &[Bench] = &[
    Bench { name: "config", package: "kitbag", programs: &["--example=bench_config"] },
    Bench { name: "world", package: "kitbag", programs: &["--example=bench_world"] },
    Bench { name: "catalog", package: "kitbag", programs: &["--example=bench_catalog"] },
    Bench { name: "present", package: "kitbag", programs: &["--example=bench_present"] },
    Bench { name: "connect", package: "kitbag", programs: &["--example=bench_connect"] },
    Bench { name: "link", package: "kitbag", programs: &["--example=bench_link"] },
    Bench { name: "http", package: "kitbag", programs: &["--example=bench_http"] },
    Bench { name: "allocations", package: "kitbag", programs: &["--example=bench_allocations"] },
    Bench { name: "flow", package: "kitbag-flow", programs: &["--example=bench_flow"] },
    // Counting allocations costs time, so it is done apart.
    Bench { name: "call", package: "bench", programs: &["--bin=bench-call", "--bin=bench-call-allocations"] },
    Bench {
        name: "policy",
        package: "bench",
        programs: &["--bin=bench-policy", "--bin=bench-policy-allocations"],
    },
    Bench { name: "agent", package: "bench", programs: &["--bin=bench-agent"] },
    Bench { name: "first-contact", package: "bench", programs: &["--bin=bench-first-contact"] },
    Bench { name: "serve", package: "bench", programs: &["--bin=bench-serve"] },
];

/// What a benchmark measures as a program of its own, and must be built beside it.
const MEASURED: &[(&str, &[&str])] = &[
    ("first-contact", &["--package=kitbag-cli"]),
    ("serve", &["--package=kitbag-cli"]),
    ("serve", &["--package=bench", "--bin=bench-relay", "--bin=bench-upstream"]),
];

struct Bench {
    name: &'static str,
    package: &'static str,
    /// Run in this order, all of them.
    programs: &'static [&'static str],
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let names = || BENCHES.iter().map(|bench| bench.name);
    let Some((name, rest)) = args.split_first() else {
        bail!(Usage(format!("name a benchmark: {}", names().collect::<Vec<_>>().join(", "))));
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        return Err(unknown("benchmark", name, names()));
    };
    if rest.iter().any(|flag| flag == "--peers") {
        needs::peers()?;
    }
    for (_, programs) in MEASURED.iter().filter(|(measured, _)| measured == name) {
        shell::run(shell::cargo(&["build", "--release"]).args(*programs))?;
    }
    let run = |program: &&str| {
        let mut cargo = shell::cargo(&["run", "--release", "--package", bench.package, program]);
        shell::run(cargo.arg("--").args(rest))
    };
    // A bound that is broken does not hide the others' figures.
    let ended: Vec<anyhow::Result<()>> = bench.programs.iter().map(run).collect();
    ended.into_iter().collect()
}
