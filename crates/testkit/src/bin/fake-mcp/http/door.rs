//! A listener that can be taken away while connections go on: then no new one can be made.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Takes connections while `file` does not exist. The port stays the same.
pub(super) fn accept(listener: TcpListener, file: &Path, serve: impl Fn(TcpStream)) {
    let Ok(address) = listener.local_addr() else { return };
    let mut open = Some(listener);
    loop {
        if file.exists() {
            open = None;
        } else if open.is_none() {
            open = TcpListener::bind(address).ok();
        }
        let taken = open.as_ref().map(|listener| {
            listener.set_nonblocking(true)?;
            listener.accept()
        });
        match taken {
            Some(Ok((stream, _))) => {
                let _ = stream.set_nonblocking(false);
                serve(stream);
            }
            Some(Err(error)) if error.kind() != io::ErrorKind::WouldBlock => open = None,
            _ => thread::sleep(Duration::from_millis(2)),
        }
    }
}
