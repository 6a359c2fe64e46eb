//! Lines that a person types while something else goes on. One thread reads them for the whole life of the process: one
//! that waits for a line nobody types any more cannot be ended, and a second one would take turns with it.

use std::io;

use tokio::sync::mpsc;

/// What was typed and nobody has read yet.
const AHEAD: usize = 16;

/// Lines from standard input.
pub(crate) struct Keyboard(mpsc::Receiver<String>);

impl Keyboard {
    /// Begins to read; nothing else may read standard input from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        let (sender, lines) = mpsc::channel(AHEAD);
        let read = move || {
            for line in io::stdin().lines().map_while(Result::ok) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("keyboard".to_owned()).spawn(read)?;
        Ok(Self(lines))
    }

    /// The next line; none at the end of the input.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.0.recv().await
    }
}
