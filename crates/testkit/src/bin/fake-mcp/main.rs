//! `fake-mcp`: one MCP server over stdio that is fast when good and can be hostile in every way that
//! `--list-faults` names. A single reader loop; what has to wait goes to one timer thread.

mod corpus;
mod cut;
mod era;
mod events;
mod faults;
mod later;
mod list;
mod options;
mod out;
mod server;
mod signals;
mod stdin;
mod tools;
mod wire;

use std::process::ExitCode;
use std::{env, fs};

use corpus::Corpus;
use options::{Options, Run};

fn main() -> ExitCode {
    // Before anything of ours is open: these came from the parent.
    let inherited = inherited_fds();
    match options::parse(env::args().skip(1)) {
        Ok(Run::Help) => print(options::HELP),
        Ok(Run::ListFaults) => print(&faults::listed()),
        Ok(Run::Child(kind, options)) => faults::tree::child(kind, &options),
        Ok(Run::Serve(options)) => serve(options, inherited),
        Err(wrong) => {
            eprintln!("fake-mcp: {wrong}");
            ExitCode::from(2)
        }
    }
}

fn serve(options: Options, inherited: Vec<(u32, String)>) -> ExitCode {
    let fault = faults::named(options.fault.as_deref());
    match fault.and_then(|fault| Ok((fault, Corpus::load(&options)?))) {
        Ok((fault, corpus)) => server::run(options, corpus, fault, inherited),
        Err(wrong) => {
            eprintln!("fake-mcp: {wrong}");
            ExitCode::from(2)
        }
    }
}

fn print(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

fn inherited_fds() -> Vec<(u32, String)> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    // The folder itself was open while it was read; its link leads nowhere any more.
    let one = |path: &std::path::PathBuf| {
        let number = path.file_name()?.to_str()?.parse().ok()?;
        Some((number, fs::read_link(path).ok()?.display().to_string()))
    };
    let mut fds: Vec<_> = paths.iter().filter_map(one).collect();
    fds.sort_unstable();
    fds
}
