//! `fake-mcp`: one MCP server, over stdio or HTTP, that is fast when good and can be hostile in every way that
//! `--list-faults` and `--list-http-faults` name. What has to wait goes to one timer thread.

mod corpus;
mod cut;
mod era;
mod events;
mod faults;
mod house;
mod http;
mod later;
mod list;
mod offered;
mod options;
mod out;
mod server;
mod signals;
mod stdin;
mod stdio;
mod stdout;
mod tools;
mod wire;

use std::process::ExitCode;
use std::{env, fs};

use corpus::Corpus;
use house::House;
use options::{Options, Run, Wire};

fn main() -> ExitCode {
    // Before anything of ours is open: these came from the parent.
    let inherited = inherited_fds();
    match options::parse(env::args().skip(1)) {
        Ok(Run::Help) => print(options::HELP),
        Ok(Run::ListFaults) => print(&faults::listed(Wire::Stdio)),
        Ok(Run::ListHttpFaults) => print(&faults::listed(Wire::Http)),
        Ok(Run::Child(kind, options)) => faults::tree::child(kind, &options),
        Ok(Run::Serve(options)) => serve(options, inherited),
        Err(wrong) => {
            eprintln!("fake-mcp: {wrong}");
            ExitCode::from(2)
        }
    }
}

fn serve(options: Options, inherited: Vec<(u32, String)>) -> ExitCode {
    let fault = faults::named(options.fault.as_deref(), options.http.wire());
    match fault.and_then(|fault| Ok((fault, Corpus::load(&options)?))) {
        Ok((fault, corpus)) => {
            let http = options.http.port;
            let house = House::open(options, corpus, fault, inherited);
            match http {
                None => stdio::run(&house),
                Some(port) => http::run(&house, port),
            }
        }
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
