//! What people do to the files of a history.

use super::files::{AgentRule, BLINDING, CLOSING, Entry, Own, ServerRule, Settings};
use super::model::{AGENTS, Place, TOOLS};
use super::scene::{SERVERS, Scene, USERS, Written, keep};

impl Scene {
    fn user(&mut self) -> String {
        self.pick(&USERS).to_owned()
    }

    pub(super) fn server(&mut self) -> String {
        self.pick(&SERVERS).to_owned()
    }

    fn entry(&mut self, of: &str) -> Entry {
        let exclude = [None, None, Some(TOOLS[0]), Some("env")];
        Entry {
            token: self.token(of),
            extra: self.dice.roll(5),
            enabled: self.dice.roll(8) != 0,
            per_user: self.dice.roll(4) == 0,
            asks: self.dice.roll(4) == 0,
            refers: self.dice.roll(3) == 0,
            exclude: self.pick(&exclude),
            slips: self.dice.roll(6) == 0,
        }
    }

    /// Another entry, or the same one with another restriction: then its process stays.
    fn changed(&mut self, entry: Option<&Entry>, of: &str) -> Entry {
        let fresh = self.entry(of);
        match entry.filter(|_| self.dice.roll(3) == 0) {
            Some(entry) => Entry { exclude: fresh.exclude, slips: fresh.slips, ..entry.clone() },
            None => fresh,
        }
    }

    pub(super) fn change_entry(&mut self) {
        let server = self.server();
        if self.dice.roll(2) == 0 {
            let known = self.disk.shared.says.get(&server).cloned();
            let entry = self.changed(known.as_ref(), &format!("shared-{server}"));
            self.say(format!("everybody's {server}: {entry:?}"));
            self.disk.shared.says.insert(server, entry);
            self.disk.shared.is_whole = true;
        } else {
            let user = self.user();
            let at = (user.clone(), server.clone());
            let known = match self.disk.own.get(&at).map(|file| &file.says) {
                Some(Own::Entry(entry)) => Some(entry.clone()),
                _ => None,
            };
            let entry = self.changed(known.as_ref(), &format!("{user}-{server}"));
            self.say(format!("{user}'s own {server}: {entry:?}"));
            self.disk.own.insert(at, Written::whole(Own::Entry(entry)));
        }
        self.write();
    }

    pub(super) fn remove_entry(&mut self) {
        let server = self.server();
        if self.dice.roll(2) == 0 {
            self.say(format!("everybody's {server} is removed"));
            self.disk.shared.says.remove(&server);
            self.disk.shared.is_whole = true;
        } else {
            let user = self.user();
            self.say(format!("{user}'s own {server} is removed"));
            self.disk.own.remove(&(user, server));
        }
        self.write();
    }

    pub(super) fn switch_entry(&mut self) {
        let (user, server, on) = (self.user(), self.server(), self.dice.roll(3) == 0);
        if self.dice.roll(2) == 0 {
            self.say(format!("{user} switches {server} to {on}"));
            self.disk.own.insert((user, server), Written::whole(Own::Switch(on)));
        } else if let Some(entry) = self.disk.shared.says.get_mut(&server) {
            entry.enabled = !entry.enabled;
            let line = format!("everybody's {server} is switched to {}", entry.enabled);
            self.disk.shared.is_whole = true;
            self.say(line);
        }
        self.write();
    }

    fn server_rule(&mut self) -> ServerRule {
        let tool = self.pick(&TOOLS);
        match self.dice.roll(10) {
            0 | 1 => ServerRule::Exclude(tool),
            2 => ServerRule::Include(tool),
            3 => ServerRule::Approve(tool),
            4 => ServerRule::Off,
            5 => ServerRule::PerUser,
            6 => ServerRule::ClosedByTitle(self.pick(&["server", "severs"])),
            7 => self.strict_rule(),
            _ => ServerRule::Closed(self.pick(&CLOSING)),
        }
    }

    fn strict_rule(&mut self) -> ServerRule {
        match self.dice.roll(2) {
            0 => ServerRule::AllNeedApproval("approve = 'add'"),
            _ => ServerRule::CountsAsOff("enabled = 'false'"),
        }
    }

    fn agent_rule(&mut self) -> AgentRule {
        let server = self.server();
        match self.dice.roll(3) {
            0 => AgentRule::Allow(server, self.pick(&TOOLS)),
            1 => AgentRule::Server(server),
            _ => AgentRule::Closed(self.pick(&BLINDING)),
        }
    }

    fn settings(&mut self) -> Settings {
        let mut settings = Settings { all_closed: self.dice.roll(12) == 0, ..Settings::default() };
        for server in SERVERS {
            if !settings.all_closed && self.dice.roll(2) == 0 {
                settings.servers.insert(server.to_owned(), self.server_rule());
            }
        }
        for agent in AGENTS {
            if self.dice.roll(3) != 0 {
                settings.agents.insert(agent.to_owned(), self.agent_rule());
            }
        }
        if self.dice.roll(6) == 0 {
            settings.denied = Some((self.user(), self.pick(&["users", "user"])));
        }
        settings
    }

    pub(super) fn change_settings(&mut self) {
        let settings = self.settings();
        self.say(format!("kitbag.toml: {:?}", settings.text()));
        self.disk.settings = Some(Written::whole(settings));
        self.write();
    }

    pub(super) fn remove_settings(&mut self) {
        self.say("kitbag.toml is removed");
        self.disk.settings = None;
        self.write();
    }

    /// Somebody is in the middle of writing a file.
    pub(super) fn write_half(&mut self) {
        match self.dice.roll(3) {
            0 => {
                let settings = self.settings();
                self.say(format!("half of kitbag.toml: {:?}", settings.half()));
                self.disk.settings = Some(Written { says: settings, is_whole: false });
            }
            1 => {
                self.change_entry();
                self.say("and all files of servers are half written");
                self.disk.shared.is_whole = false;
                self.disk.own.values_mut().for_each(|file| file.is_whole = false);
            }
            _ => {
                self.change_entry();
                self.say("and everybody's file is half written");
                self.disk.shared.is_whole = false;
            }
        }
        self.write();
    }

    pub(super) fn write_all(&mut self) {
        self.say("all files are whole");
        self.disk.shared.is_whole = true;
        self.disk.own.values_mut().for_each(|file| file.is_whole = true);
        self.disk.settings.iter_mut().for_each(|file| file.is_whole = true);
        self.write();
    }

    /// A user answers what an entry asks for.
    pub(super) fn answer(&mut self) {
        let (user, server) = (self.user(), self.server());
        for place in [Place::Shared, Place::Own] {
            let answer = self.token(&format!("answer-of-{user}"));
            if keep(&self.setup(&user), &self.farm, place, &server, &answer) {
                self.say(format!("{user} answers {server} ({place:?}): {answer}"));
                self.disk.answers.insert((user.clone(), place, server.clone()), answer);
            }
        }
    }
}
