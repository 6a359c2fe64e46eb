//! Waiting for servers that start: as long as it takes where one is needed, with a line on the terminal that says what it
//! is doing; and what is said of those that nobody waits for.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use kitbag::cli::speaks_of;
use kitbag::{Fault, FaultKind, Kitbag, Limits, LinkState, ServerName, ServerStatus};
use kitbag_core::Stage;
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::text::visible;

use crate::context::Context;
use crate::live;
use crate::terminal::width;

/// Between two looks of the line.
const PAUSE: Duration = Duration::from_millis(200);

/// Waits for the server that has a tool: for as long as that one may take to start where it is known which one that is, by
/// the name or by the lists that are remembered; else for all that could have it, as long as an agent waits. Servers that are
/// remembered to have no such tool are not even started.
pub(crate) async fn wait_for_tool(context: &mut Context, kit: &Kitbag, tool: &str) {
    kit.wait_for_pins().await;
    let (limits, wait) = (kit.limits(), context.global.wait);
    let one = wait.unwrap_or(limits.wait_download + limits.wait_list);
    let all = wait.unwrap_or(limits.wait_agent);
    let servers = awaited(kit, tool);
    if context.ad_hoc || servers.iter().all(|server| speaks_of(server, tool)) {
        return until(context, kit, kit.wait_for_servers(&servers, one)).await;
    }
    let holder = holder(context, kit, tool);
    let snapshot = kit.snapshot();
    let mut unknown = servers;
    unknown.retain(|server| holder.is_none() || snapshot.part(server).is_none());
    let holder: Vec<ServerName> = holder.into_iter().collect();
    let known = async {
        tokio::join!(kit.wait_for_servers(&holder, one), kit.wait_for_servers(&unknown, all));
    };
    until(context, kit, known).await;
    // What is remembered may be true no more: then anybody may have it.
    if !holder.is_empty() && self::holder(context, kit, tool).is_none() {
        until(context, kit, kit.wait_for_all(all)).await;
    }
}

/// The servers that could have a tool. One that is only there to take the calls of another is started when it has to.
fn awaited(kit: &Kitbag, tool: &str) -> Vec<ServerName> {
    let mut servers: Vec<ServerName> = kit.links().iter().map(|link| link.name().clone()).collect();
    if servers.iter().any(|server| speaks_of(server, tool)) {
        let fallbacks = kit.setup().fallbacks().by_server;
        servers.retain(|server| speaks_of(server, tool) || fallbacks.values().all(|other| other != server));
    }
    servers
}

/// How long a command waits that lists servers: one that was typed as a command may have to be downloaded first, and is
/// all that is asked for.
pub(crate) fn how_long(context: &Context, limits: &Limits) -> Duration {
    let usual = if context.ad_hoc { limits.wait_download + limits.wait_list } else { limits.wait_agent };
    context.global.wait.unwrap_or(usual)
}

/// Whose tool a name means, as far as is known now.
fn holder(context: &Context, kit: &Kitbag, tool: &str) -> Option<ServerName> {
    let view = live::view(context, kit, kit.user()).ok()?;
    match view.find(tool) {
        NameMatch::One(index) => Some(view.at(index)?.tool.server.clone()),
        _ => None,
    }
}

/// Waits until every server is connected or cannot be, at most so long, and shows which are waited for.
pub(crate) async fn wait(context: &mut Context, kit: &Kitbag, at_most: Duration) {
    until(context, kit, kit.wait_for_all(at_most)).await;
}

async fn until(context: &mut Context, kit: &Kitbag, awaited: impl Future<Output = ()>) {
    let mut line = Line::new(context);
    let mut awaited = std::pin::pin!(awaited);
    loop {
        tokio::select! {
            () = &mut awaited => break,
            () = tokio::time::sleep(PAUSE), if line.shows => line.draw(context, &kit.status()),
        }
    }
    line.wipe(context);
}

/// One line on stderr that is written over and over, and gone at the end; nothing where no person looks.
struct Line {
    shows: bool,
    drawn: usize,
    began: Instant,
}

impl Line {
    fn new(context: &Context) -> Self {
        let shows = std::io::stderr().is_terminal() && !context.global.quiet && !context.global.json;
        Self { shows, drawn: 0, began: Instant::now() }
    }

    fn draw(&mut self, context: &mut Context, rows: &[ServerStatus]) {
        let room = width().unwrap_or(80).saturating_sub(1);
        let text: String = describe(rows, self.began.elapsed()).chars().take(room).collect();
        let (before, now) = (self.drawn, text.chars().count());
        context.overwrite(&format!("{text}{:1$}", "", before.saturating_sub(now)));
        self.drawn = now.max(before);
    }

    fn wipe(&mut self, context: &mut Context) {
        if 0 < self.drawn {
            context.overwrite(&format!("{:1$}\r", "", self.drawn));
        }
    }
}

/// Which servers are waited for, for how long, and what the first of them says.
fn describe(rows: &[ServerStatus], waited: Duration) -> String {
    let away: Vec<&ServerStatus> = rows.iter().filter(|row| is_awaited(row)).collect();
    let Some(first) = away.first() else { return String::new() };
    let does =
        if first.status.downloading { "first start, may download" } else { first.status.state.as_str() };
    let others = if 1 < away.len() { format!(" and {} more", away.len() - 1) } else { String::new() };
    let says = first.status.stderr.as_ref().map(|line| format!(": {}", visible(line))).unwrap_or_default();
    format!("{}{others}: {does}, {}s{says}", visible(&first.name), waited.as_secs())
}

fn is_awaited(row: &ServerStatus) -> bool {
    matches!(row.status.state, LinkState::Starting | LinkState::Reconnecting)
}

/// The servers that are being started for the first time and have met no trouble yet.
pub(crate) fn still_starting(kit: &Kitbag) -> Vec<ServerStatus> {
    let is_new = |row: &ServerStatus| row.status.state == LinkState::Starting && row.status.error.is_none();
    kit.status().into_iter().filter(is_new).collect()
}

/// Whether a fault says no more than that one of these is not there yet.
pub(crate) fn is_about_starting(fault: &Fault, starting: &[ServerStatus]) -> bool {
    let is_of = |server: &ServerName| starting.iter().any(|row| row.name == server.as_str());
    fault.stage == Stage::Connect
        && fault.kind == FaultKind::Unavailable
        && fault.server.as_ref().is_some_and(is_of)
}

/// Says which servers are still being started: that is no error.
pub(crate) fn say_starting(context: &mut Context, starting: &[ServerStatus]) {
    if starting.is_empty() {
        return;
    }
    let one = |row: &ServerStatus| {
        let waits_for = row.status.waits_for.as_ref().map(ToString::to_string);
        let says = row.status.stderr.clone().or(waits_for);
        format!("{}{}", row.name, says.map(|says| format!(" ({says})")).unwrap_or_default())
    };
    let names: Vec<String> = starting.iter().map(one).collect();
    let names = names.join(", ");
    context.remark(format!(
        "still starting: {names}; `kitbag servers warm` waits for them, `--wait 60s` so long"
    ));
}
