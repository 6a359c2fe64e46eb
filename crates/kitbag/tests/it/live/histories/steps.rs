//! What happens in a history: to files, to handles, to servers.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use kitbag::{ApplyError, ServerName};
use rustix::process::{Pid, Signal, kill_process};

use super::calls::{Asked, Outcome};
use super::scene::{Handle, Scene, State};
use super::{LONG, until};

impl Scene {
    /// Something happens.
    pub(super) async fn step(&mut self) {
        match self.dice.roll(33) {
            0..4 => self.change_entry(),
            4 => self.remove_entry(),
            5 => self.switch_entry(),
            6..9 => self.change_settings(),
            9 => self.remove_settings(),
            10 | 11 => self.write_half(),
            12 => self.write_all(),
            13 | 14 => self.answer(),
            15..19 => self.reload().await,
            19 => self.restart().await,
            20 | 21 => self.kill().await,
            22..27 => self.call().await,
            27 => self.stop().await,
            28 | 29 => self.reopen().await,
            _ => self.reload_amid_calls().await,
        }
    }

    /// How a handle is once it has read the files again.
    fn state_after_look(&self, who: usize) -> State {
        let State { seen, listed, .. } = &self.handles[who].state;
        State::new(self.look(&seen.user, Some(seen)), listed)
    }

    async fn reload(&mut self) {
        let who = self.dice.roll(self.handles.len());
        self.reload_one(who).await;
    }

    pub(super) async fn reload_one(&mut self, who: usize) {
        self.say(format!("{} reloads", self.handles[who].state.seen.user));
        self.handles[who].kit.reload().await.unwrap();
        self.looked(who).await;
    }

    /// A handle has read the files again.
    async fn looked(&mut self, who: usize) {
        let after = self.state_after_look(who);
        let Handle { kit, state } = &self.handles[who];
        self.judge_at_once(kit, &state.listed, &after.seen);
        self.handles[who].state = after;
        self.judge_ended();
        self.judge(who).await;
    }

    async fn restart(&mut self) {
        let (who, server) = (self.dice.roll(self.handles.len()), self.server());
        self.say(format!("{} restarts {server}", self.handles[who].state.seen.user));
        let restarted = self.handles[who].kit.restart(&ServerName::parse(&server).unwrap()).await;
        match self.state_after_look(who).seen.running().remove(&server) {
            Some(running) => {
                restarted.unwrap();
                let old = running.process.and_then(|process| self.processes.remove(&process));
                let is_gone = || old.is_none_or(|pid| !testkit::proc::alive(pid));
                assert!(until(LONG, is_gone).await, "{server} was not ended");
            }
            None => assert!(matches!(restarted, Err(ApplyError::NoServer(_))), "{restarted:?}"),
        }
        self.looked(who).await;
    }

    async fn kill(&mut self) {
        let alive = self.farm.alive();
        let known: Vec<_> = self.processes.iter().filter(|(_, pid)| alive.contains(pid)).collect();
        if known.is_empty() {
            return;
        }
        let (process, pid) = known[self.dice.roll(known.len())];
        let (process, pid) = (process.clone(), *pid);
        self.say(format!("{} of {:?} is killed", process.server, process.owner));
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
        assert!(until(LONG, || !testkit::proc::alive(pid)).await);
        self.processes.remove(&process);
        self.killed.insert(process);
    }

    async fn call(&mut self) {
        let asked = Asked::new(self);
        let Asked { who, .. } = asked;
        self.say(format!("{} calls: {asked:?}", self.handles[who].state.seen.user));
        let outcome = asked.make(&self.handles[who].kit).await;
        self.judge_call(&asked, &outcome, std::slice::from_ref(&self.handles[who].state));
        self.judge_diaries(&[(asked, outcome)]);
    }

    async fn stop(&mut self) {
        let (who, server) = (self.dice.roll(self.handles.len()), self.server());
        self.say(format!("{} stops {server}", self.handles[who].state.seen.user));
        let stopped = self.handles[who].kit.stop(&ServerName::parse(&server).unwrap()).await;
        let is_used = self.handles[who].state.seen.running().contains_key(&server);
        assert_eq!(stopped.is_ok(), is_used, "{stopped:?}");
        self.handles[who].state.stopped.insert(server);
        self.judge_ended();
    }

    /// A user's program ends and starts again.
    async fn reopen(&mut self) {
        let who = self.dice.roll(self.handles.len());
        let user = self.handles[who].state.seen.user.clone();
        self.say(format!("{user}'s program starts anew"));
        let old = self.handles.remove(who);
        old.kit.close().await;
        self.judge_ended();
        if self.dice.roll(2) == 0 {
            self.change_entry();
            self.change_entry();
        }
        let new = self.open(&user).await;
        self.handles.insert(who, new);
        self.judge(who).await;
    }

    /// Calls of everybody while one handle reads the files again.
    async fn reload_amid_calls(&mut self) {
        let who = self.dice.roll(self.handles.len());
        let calls: Vec<Asked> = (0..6).map(|_| Asked::new(self)).collect();
        self.say(format!("{} reloads amid {calls:?}", self.handles[who].state.seen.user));
        let kit = self.handles[who].kit.clone();
        let making = join_all(calls.iter().map(|asked| asked.make(&self.handles[asked.who].kit)));
        let (reloaded, outcomes) = tokio::join!(kit.reload(), making);
        reloaded.unwrap();
        let mut states: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        for (index, handle) in self.handles.iter().enumerate() {
            states.insert(index, vec![handle.state.clone()]);
        }
        states.entry(who).or_default().push(self.state_after_look(who));
        let calls: Vec<(Asked, Outcome)> = calls.into_iter().zip(outcomes).collect();
        for (asked, outcome) in &calls {
            self.judge_call(asked, outcome, &states[&asked.who]);
        }
        self.judge_diaries(&calls);
        self.looked(who).await;
    }
}
