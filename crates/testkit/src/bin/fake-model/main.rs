//! A model that says what a script tells it, behind the five wire formats that agents speak: OpenAI chat completions and
//! responses, Anthropic messages, Gemini and Ollama. It prints its address, writes down every request, and can fail in the
//! ways real hosts do.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "it is a program")]

mod http;
mod script;
mod wire;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use script::{Script, Turn};
use serde_json::{Value, json};

const HELP: &str = "\
fake-model --script FILE [--requests FILE]

Listens on a free port of 127.0.0.1, prints its address, and answers as the script says: {\"turns\": [...]}, one turn for
each request, the last one again and again. `-` reads the script from one line of standard input, and ends with it.
A turn:
  text, reasoning       lists of strings, a piece each
  calls                 [{name, arguments}], side by side; arguments may be a string that is sent as it is; a namespace is
                        told where OpenAI's responses have one
  usage                 [input, output]
  stop                  \"length\" or \"filter\"
  status, error         refuse with this HTTP status and these words; retry_after goes into the header
  fail                  words of an error in the middle of the stream
  cut                   \"early\" ends the stream in the middle as if it were whole, \"reset\" breaks it off
  broken                true sends something that is not JSON in the middle
  whole                 true answers at once though a stream is asked for
  quirk                 what single hosts do: \"one_index\", \"parts\" (chat), \"unsealed\" (responses), \"malformed_call\",
                        \"retry_delay\" (Gemini)
  hold                  true never answers; \"middle\" stops in the middle of the stream
The script may also have \"key\" (others are refused with 401) and \"models\" (others are refused with 404).";

/// What all connections share.
struct Host {
    script: Script,
    turn: Mutex<usize>,
    requests: Mutex<Option<File>>,
}

impl Host {
    fn next_turn(&self) -> (usize, Turn) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *turn;
        *turn += 1;
        let turns = &self.script.turns;
        (number, turns.get(number).or(turns.last()).cloned().unwrap_or_default())
    }

    fn write_down(&self, path: &str, headers: &[(String, String)], body: &Value) {
        let mut file = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let headers: serde_json::Map<String, Value> =
            headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        if let Some(file) = file.as_mut() {
            let line = json!({"path": path, "headers": headers, "body": body}).to_string() + "\n";
            let _ = file.write_all(line.as_bytes());
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake-model: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let (mut script, mut requests) = (None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--script" => script = args.next(),
            "--requests" => requests = args.next(),
            _ => {
                println!("{HELP}");
                return Ok(());
            }
        }
    }
    let mut text = String::new();
    match script.as_deref() {
        Some("-") => {
            let read = std::io::stdin().read_line(&mut text)?;
            // Whoever started this has gone when its end of the pipe is closed.
            std::thread::spawn(|| {
                let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                std::process::exit(0);
            });
            read
        }
        Some(file) => File::open(file)?.read_to_string(&mut text)?,
        None => return Err("--script FILE is missing".into()),
    };
    let script: Script = serde_json::from_str(&text)?;
    let requests =
        requests.map(|file| OpenOptions::new().create(true).append(true).open(file)).transpose()?;
    let host = Arc::new(Host { script, turn: Mutex::new(0), requests: Mutex::new(requests) });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let (stream, host) = (stream?, host.clone());
        std::thread::spawn(move || {
            let _ = http::serve(stream, &host);
        });
    }
    Ok(())
}
