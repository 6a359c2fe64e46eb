//! Several processes on one database: killed at any moment, and answering at the same one.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use kitbag::store::{ApprovalAnswer, ApprovalAsk, ApprovalId, ApprovalState, AuditVerdict, Store, WriterId};

use crate::postgres::Server;
use crate::rows::{ask, owner};
use crate::stores::{Place, user};

/// How many times a writer is killed; the full size is chosen when the tests are built.
const ROUNDS: u64 = if option_env!("KITBAG_FULL_TESTS").is_some() { 1000 } else { 30 };

fn program(place: &Place, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kitbag-store-writer"));
    command.arg(args[0]).arg(place.url()).arg(place.state()).args(&args[1..]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// What writers said they had written.
#[derive(Default)]
struct Acknowledged {
    pins: BTreeSet<String>,
    /// Each id, and whether it was answered.
    approvals: Vec<(String, bool)>,
    /// The last row of each writer.
    audited: Vec<(String, u64)>,
}

impl Acknowledged {
    fn line(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["pin", tool] => drop(self.pins.insert(tool.to_owned())),
            ["asked", id] => self.approvals.push((id.to_owned(), false)),
            ["answered", id] => self.approvals.push((id.to_owned(), true)),
            ["audited", writer, last] => self.audited.push((writer.to_owned(), last.parse().unwrap())),
            _ => panic!("{line:?}"),
        }
    }

    fn extend(&mut self, other: Self) {
        self.pins.extend(other.pins);
        self.approvals.extend(other.approvals);
        self.audited.extend(other.audited);
    }

    /// All of it is there, and the chains are whole.
    async fn check(&self, store: &dyn Store) {
        let pins = store.pins(&owner("")).await.unwrap();
        let pins: BTreeSet<_> = pins.iter().map(|pin| pin.key.tool.to_string()).collect();
        assert!(self.pins.is_subset(&pins));
        for (id, answered) in &self.approvals {
            let state = store.answer_of(&user("ada"), &ApprovalId::new(id), SystemTime::now()).await.unwrap();
            let is_yes = matches!(state, Some(ApprovalState::Answered { answer: ApprovalAnswer::Once, .. }));
            assert!(is_yes || !answered && state == Some(ApprovalState::Pending), "{state:?}");
        }
        for (writer, last) in &self.audited {
            let (head, _) = store.head(&WriterId::new(writer)).await.unwrap().unwrap();
            assert!(*last <= head, "{last} of {head}");
        }
        let verdict = store.verify().await.unwrap();
        let rows: u64 = self.audited.iter().map(|(_, last)| *last).max().unwrap_or_default();
        assert!(matches!(verdict, AuditVerdict::Intact { rows: found } if rows <= found), "{verdict:?}");
    }
}

/// Reads so many lines, kills, and reads what the writer had still said.
fn kill_after(place: &Place, lines: usize, acknowledged: &mut Acknowledged) {
    let mut writer = program(place, &["write"]);
    let mut said = BufReader::new(writer.stdout.take().unwrap()).lines();
    for _ in 0..lines {
        acknowledged.line(&said.next().unwrap().unwrap());
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    said.for_each(|line| acknowledged.line(&line.unwrap()));
}

async fn what_was_acknowledged_outlives_kill_9(place: &Place) {
    let mut acknowledged = Acknowledged::default();
    let mut random = fastrand::Rng::with_seed(20_261_118);
    for round in 0..ROUNDS {
        // The first rounds are over before the tables are there.
        let lines = random.usize(0..=usize::try_from(2 * round).unwrap().min(40));
        let mut latest = Acknowledged::default();
        kill_after(place, lines, &mut latest);
        latest.check(&*place.open()).await;
        acknowledged.extend(latest);
    }
    // What earlier rounds were told is there after all of them.
    acknowledged.check(&*place.open()).await;
    assert!(100 < acknowledged.pins.len(), "{}", acknowledged.pins.len());
    let (pins, approvals) = (acknowledged.pins.len(), acknowledged.approvals.len());
    println!("{ROUNDS} kills: {pins} pins, {approvals} steps of approvals, all there; chains intact");
}

#[tokio::test]
async fn t44_what_was_acknowledged_outlives_kill_9() {
    what_was_acknowledged_outlives_kill_9(&Place::sqlite()).await;
}

#[tokio::test]
async fn t44_what_was_acknowledged_outlives_kill_9_in_postgres() {
    let server = Server::start().await;
    what_was_acknowledged_outlives_kill_9(&server.place()).await;
}

/// Four processes begin to use one new file at the same moment.
#[tokio::test]
async fn processes_that_start_at_once_share_a_new_database() {
    let place = Place::sqlite();
    let mut writers: Vec<_> = (0..4).map(|_| program(&place, &["write"])).collect();
    let mut acknowledged = Acknowledged::default();
    // Held until the end: who cannot be heard any more would fail by itself.
    let mut said: Vec<_> =
        writers.iter_mut().map(|writer| BufReader::new(writer.stdout.take().unwrap())).collect();
    for lines in &mut said {
        lines.lines().take(12).for_each(|line| acknowledged.line(&line.unwrap()));
    }
    for mut writer in writers {
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
    acknowledged.check(&*place.open()).await;
    let writers: BTreeSet<_> = acknowledged.audited.iter().map(|(writer, _)| writer).collect();
    assert_eq!(writers.len(), 4);
}

async fn one_of_two_processes_wins(place: &Place) {
    let store = place.open();
    for round in 0..5 {
        let now = SystemTime::now();
        let asked = ApprovalAsk { created: now, expires: now + testkit::PATIENCE, ..ask("ada") };
        let id = store.ask(&asked).await.unwrap();
        let mut racers =
            ["always", "no"].map(|answer| program(place, &["answer", "ada", id.as_str(), answer]));
        let mut said = racers.each_mut().map(|racer| BufReader::new(racer.stdout.take().unwrap()).lines());
        for lines in &mut said {
            assert_eq!(lines.next().unwrap().unwrap(), "ready");
        }
        // The one who is told first is another in each round.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for n in order {
            racers[n].stdin.take().unwrap().write_all(b"\n").unwrap();
        }
        let said = said.map(|mut lines| lines.next().unwrap().unwrap());
        for mut racer in racers {
            racer.wait().unwrap();
        }
        let won: Vec<_> = said.iter().map(|line| line == "Ok(())").collect();
        assert!(won == [true, false] || won == [false, true], "{said:?}");
        let answer = if won[0] { ApprovalAnswer::Always } else { ApprovalAnswer::No };
        let state = store.answer_of(&user("ada"), &id, SystemTime::now()).await.unwrap();
        assert!(matches!(state, Some(ApprovalState::Answered { answer: found, .. }) if found == answer));
    }
}

#[tokio::test]
async fn of_two_processes_that_answer_one_wins_in_sqlite() {
    one_of_two_processes_wins(&Place::sqlite()).await;
}

#[tokio::test]
async fn of_two_processes_that_answer_one_wins_in_postgres() {
    let server = Server::start().await;
    one_of_two_processes_wins(&server.place()).await;
}
