//! The fake over stdio: a single reader loop and one conversation.

use std::process::ExitCode;
use std::sync::Arc;

use crate::house::House;
use crate::out::Out;
use crate::server::Server;
use crate::stdin::Lines;
use crate::stdout::Stdout;

/// Serves until stdin ends.
pub(crate) fn run(house: &Arc<House>) -> ExitCode {
    let out = Arc::new(Out::new(Stdout, house.fault.clone()));
    house.tell(&out);
    let server = Arc::new(Server::new(Arc::clone(house), out, Arc::default()));
    if let Some(fault) = &house.fault {
        fault.start(&server);
        server.out.flush();
    }
    read(&server);
    house.events.note(&["stdin-eof"]);
    ExitCode::SUCCESS
}

fn read(server: &Arc<Server>) {
    let mut lines = Lines::new();
    let mut line = Vec::new();
    while lines.next_into(&mut line) {
        if !line.is_empty() {
            server.take(&line);
        }
        if !lines.has_more() {
            server.out.flush();
        }
    }
}
