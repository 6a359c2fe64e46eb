use kitbag::connect::LinkStatus;

use super::*;

fn row(name: &str, state: LinkState) -> ServerStatus {
    let status = LinkStatus { tools: Some(2), ..LinkStatus::new(state) };
    ServerStatus { name: name.to_owned(), transport: None, status, left_out: 0, notes: Vec::new() }
}

fn told(news: &mut News, at: u64, rows: &[ServerStatus]) -> Vec<String> {
    let lines = news.tell(Duration::from_secs(at), rows).0;
    lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
}

#[test]
fn s4_9_a_server_is_told_of_once_in_each_state() {
    let mut news = News::default();
    assert_eq!(told(&mut news, 0, &[row("x", LinkState::Starting)]), [""; 0]);
    assert_eq!(told(&mut news, 1, &[row("x", LinkState::Ready)]), ["x ready: 2 tools"]);
    assert_eq!(told(&mut news, 2, &[row("x", LinkState::Ready)]), [""; 0]);
    assert_eq!(
        told(&mut news, 60, &[row("x", LinkState::Reconnecting), row("y", LinkState::Failed)]),
        ["x reconnecting", "y failed"]
    );
}

#[test]
fn s4_9_a_server_that_keeps_changing_is_no_flood() {
    let mut news = News::default();
    let mut lines = 0;
    for second in 0..3_600 {
        let state = if second % 2 == 0 { LinkState::Ready } else { LinkState::Reconnecting };
        lines += told(&mut news, second, &[row("x", state)]).len();
    }
    assert!((4..20).contains(&lines), "{lines}");
    // What is true in the end is told, as late as the pause says.
    let mut news = News::default();
    told(&mut news, 0, &[row("x", LinkState::Ready)]);
    told(&mut news, 1, &[row("x", LinkState::Reconnecting)]);
    let (lines, again) = news.tell(Duration::from_secs(2), &[row("x", LinkState::Ready)]);
    assert_eq!((lines.len(), again), (0, Some(Duration::from_secs(11))));
    assert_eq!(told(&mut news, 11, &[row("x", LinkState::Ready)]), ["x ready: 2 tools"]);
}

#[test]
fn s4_9_of_many_servers_only_what_is_wrong_is_told() {
    let mut rows: Vec<ServerStatus> = (0..MANY).map(|n| row(&n.to_string(), LinkState::Ready)).collect();
    rows.push(row("bad", LinkState::Failed));
    assert_eq!(told(&mut News::default(), 0, &rows), ["bad failed"]);
}
