//! One connection: a request is read, written down and answered, in pieces or whole, or in one of the ways hosts fail.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::Host;
use crate::script::{Cut, Hold, Quirk, Turn};
use crate::wire::{self, Wire};

struct Request {
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Whoever asks names its key in one of these ways.
    fn key(&self) -> &str {
        let bearer = self.header("authorization").strip_prefix("Bearer ");
        let named = [self.header("x-api-key"), self.header("x-goog-api-key")];
        bearer.or(named.into_iter().find(|key| !key.is_empty())).unwrap_or_default()
    }
}

pub(crate) fn serve(stream: TcpStream, host: &Host) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        answer(&stream, &request, host)?;
    }
    Ok(())
}

fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { path, headers, body: Vec::new() };
    if request.header("transfer-encoding").contains("chunked") {
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk)?;
            request.body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        let size = request.header("content-length").parse().unwrap_or(0);
        request.body = vec![0; size];
        reader.read_exact(&mut request.body)?;
    }
    Ok(Some(request))
}

fn answer(mut stream: &TcpStream, request: &Request, host: &Host) -> io::Result<()> {
    let path = request.path.split('?').next().unwrap_or_default();
    let Some(wire) = wire::of(path) else {
        return whole(stream, 404, "", "text/plain", "no such path");
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    host.write_down(&request.path, &request.headers, &body);
    let model = wire.model(path, &body);
    if host.script.key.as_deref().is_some_and(|key| key != request.key()) {
        let said = format!("Incorrect API key provided: {}.", request.key());
        return whole(stream, 401, "", "application/json", &wire.error(401, &said).to_string());
    }
    if host.script.models.as_ref().is_some_and(|models| !models.contains(&model)) {
        let said = format!("The model `{model}` does not exist or you do not have access to it.");
        return whole(stream, 404, "", "application/json", &wire.error(404, &said).to_string());
    }
    let (number, turn) = host.next_turn();
    if turn.hold == Hold::Always {
        return hang(stream);
    }
    if let Some(status) = turn.status {
        let said = turn.error.as_deref().unwrap_or("refused by the script");
        let retry =
            turn.retry_after.as_ref().map(|time| format!("Retry-After: {time}\r\n")).unwrap_or_default();
        let mut error = wire.error(status, said);
        if turn.quirk == Some(Quirk::RetryDelay) {
            let delay = format!("{}s", turn.retry_after.as_deref().unwrap_or("0"));
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            error["error"]["details"] = json!([{"@type": kind, "retryDelay": delay}]);
            return whole(stream, status, "", "application/json", &error.to_string());
        }
        return whole(stream, status, &retry, "application/json", &error.to_string());
    }
    if turn.whole || !wire.is_streamed(path, &body) {
        return whole(stream, 200, "", "application/json", &wire.whole(number, &turn, &model).to_string());
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        wire.content_type()
    );
    stream.write_all(head.as_bytes())?;
    pieces(stream, wire, number, &turn, &model)
}

fn pieces(
    mut stream: &TcpStream,
    wire: &dyn Wire,
    number: usize,
    turn: &Turn,
    model: &str,
) -> io::Result<()> {
    let all = wire.pieces(number, turn, model);
    let middle = all.len() / 2;
    for (at, piece) in all.iter().enumerate() {
        if at == middle {
            if turn.broken {
                chunk(stream, &wire.framed("", "{\"this is not"))?;
            }
            if let Some(said) = &turn.fail {
                chunk(stream, &wire.framed("error", &wire.error(529, said).to_string()))?;
                return stream.write_all(b"0\r\n\r\n");
            }
            match turn.cut {
                Some(Cut::Early) => return stream.write_all(b"0\r\n\r\n"),
                Some(Cut::Reset) => return stream.shutdown(std::net::Shutdown::Both),
                None => {}
            }
            if turn.hold == Hold::Middle {
                return hang(stream);
            }
        }
        chunk(stream, &wire.framed(&piece.event, &piece.data))?;
    }
    stream.write_all(b"0\r\n\r\n")
}

fn chunk(mut stream: &TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

/// Says nothing more until the client has gone.
fn hang(mut stream: &TcpStream) -> io::Result<()> {
    let mut byte = [0];
    while 0 < stream.read(&mut byte)? {}
    Ok(())
}

fn whole(mut stream: &TcpStream, status: u16, headers: &str, kind: &str, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\n{headers}Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes())
}
