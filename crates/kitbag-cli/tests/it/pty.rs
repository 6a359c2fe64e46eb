//! A terminal to run the binary on. Python drives it: it can wait until the terminal's echo is off, which a
//! pipe into `script` cannot.

use std::process::Command;

use serde_json::{Value, json};

use crate::house::{BINARY, House, Ran};

const DRIVER: &str = r#"
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
job = json.loads(sys.argv[1])
pid, master = pty.fork()
if pid == 0:
    os.chdir(job["cwd"])
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, job["columns"], 0, 0))
    os.execve(job["argv"][0], job["argv"], job["env"])
seen, at, steps, end = b"", 0, job["steps"], time.monotonic() + 30
while True:
    if steps and steps[0]["wait"].encode() in seen[at:]:
        echo = bool(termios.tcgetattr(master)[3] & termios.ECHO)
        if not (steps[0]["hidden"] and echo):
            at = len(seen)
            os.write(master, steps[0]["send"].encode())
            steps = steps[1:]
    if end < time.monotonic():
        os.kill(pid, signal.SIGKILL)
        sys.stderr.write("gave up waiting\n")
        break
    if select.select([master], [], [], 0.005)[0]:
        try:
            read = os.read(master, 65536)
        except OSError:
            break
        if not read:
            break
        seen += read
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(seen)
if steps:
    sys.stderr.write("never asked: " + steps[0]["wait"] + "\n")
sys.stdout.flush()
sys.exit(code if 0 <= code else 128 - code)
"#;

/// What to wait for, what to answer.
pub(crate) enum Step<'a> {
    Shown(&'a str, &'a str),
    /// The answer is typed only once the terminal no longer echoes.
    Hidden(&'a str, &'a str),
    /// A key, without a return after it.
    Key(&'a str, char),
    /// Keys, without a return after them.
    Keys(&'a str, &'a str),
}

impl Step<'_> {
    fn json(&self) -> Value {
        match self {
            Self::Shown(wait, send) => json!({"wait": wait, "send": format!("{send}\n"), "hidden": false}),
            Self::Hidden(wait, send) => json!({"wait": wait, "send": format!("{send}\n"), "hidden": true}),
            Self::Keys(wait, keys) => json!({"wait": wait, "send": keys, "hidden": false}),
            Self::Key(wait, key) => json!({"wait": wait, "send": key, "hidden": false}),
        }
    }
}

/// Runs the binary on a terminal of this width; `err` says what the terminal waited for in vain.
pub(crate) fn run(house: &House, columns: u16, args: &[&str], steps: &[Step<'_>]) -> Ran {
    run_with(house, columns, args, steps, house.vars())
}

/// The same for somebody whose files are where they are by default, below their home.
pub(crate) fn run_at_home(house: &House, columns: u16, args: &[&str]) -> Ran {
    let vars = house.vars().into_iter().filter(|(name, _)| name != "KITBAG_HOME");
    run_with(house, columns, args, &[], vars.collect())
}

/// The same with further variables.
pub(crate) fn run_env(
    house: &House,
    columns: u16,
    args: &[&str],
    steps: &[Step<'_>],
    more: &[(&str, &str)],
) -> Ran {
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    run_with(house, columns, args, steps, house.vars().into_iter().chain(more).collect())
}

fn run_with(
    house: &House,
    columns: u16,
    args: &[&str],
    steps: &[Step<'_>],
    vars: Vec<(String, String)>,
) -> Ran {
    let argv: Vec<&str> = std::iter::once(BINARY).chain(args.iter().copied()).collect();
    let mut env: serde_json::Map<String, Value> =
        vars.into_iter().map(|(name, value)| (name, value.into())).collect();
    env.remove("COLUMNS");
    env.insert("TERM".into(), "xterm-256color".into());
    let steps: Vec<Value> = steps.iter().map(Step::json).collect();
    let job =
        json!({"argv": argv, "env": env, "cwd": house.at("project"), "columns": columns, "steps": steps});
    let output = Command::new("python3").args(["-c", DRIVER, &job.to_string()]).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs python3 for a terminal: {error}"));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code(),
        out: text(output.stdout).replace("\r\n", "\n"),
        err: text(output.stderr),
    }
}

/// A text without colours and other terminal codes.
pub(crate) fn uncoloured(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            rest.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            plain.push(c);
        }
    }
    plain
}
