//! A house with users, files and open handles, and what each handle read last.

use std::collections::{BTreeMap, BTreeSet};

use kitbag::files::SecretStore;
use kitbag::{DiscoverOptions, Env, Kitbag, Secret, ServerName, Setup, UserId};

use super::super::cuts::{Dice, fast};
use super::super::farm::Opens as _;
use super::files::{INPUT, Own, Settings, Shared, VARIABLE, shared_text};
use super::model::{Place, Process, Seen, SettingsSeen};
use testkit::Farm;

pub(super) const USERS: [&str; 3] = ["local", "ada", "bob"];
pub(super) const SERVERS: [&str; 4] = ["a", "b", "c", "d"];

const SHARED: &str = "kit/config/mcp.json";
const SETTINGS: &str = "kit/config/kitbag.toml";

/// A file as it lies there: whole, or half written.
#[derive(Clone, Debug)]
pub(super) struct Written<T> {
    pub(super) says: T,
    pub(super) is_whole: bool,
}

impl<T> Written<T> {
    pub(super) fn whole(says: T) -> Self {
        Self { says, is_whole: true }
    }
}

/// What lies on the disk.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) shared: Written<Shared>,
    /// By user and server.
    pub(super) own: BTreeMap<(String, String), Written<Own>>,
    pub(super) settings: Option<Written<Settings>>,
    /// By user, place of the entry and server.
    pub(super) answers: BTreeMap<(String, Place, String), String>,
}

/// What one user opened.
pub(super) struct Handle {
    pub(super) kit: Kitbag,
    pub(super) state: State,
}

/// How a handle must be.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) seen: Seen,
    /// Servers that were ended for this handle.
    pub(super) stopped: BTreeSet<String>,
    /// What each server in use listed last, also before its entry was another one.
    pub(super) listed: BTreeMap<String, BTreeSet<String>>,
}

impl State {
    /// After a look at the files, with what was listed before it.
    pub(super) fn new(seen: Seen, before: &BTreeMap<String, BTreeSet<String>>) -> Self {
        let running = seen.running().into_iter().filter_map(|(server, running)| {
            let known = before.get(&server).cloned();
            let listed = if running.process.is_some() { Some(running.tools) } else { known };
            Some((server, listed?))
        });
        Self { listed: running.collect(), stopped: BTreeSet::new(), seen }
    }

    /// The processes it holds on to.
    pub(super) fn held(&self) -> impl Iterator<Item = Process> {
        let running = self.seen.running().into_iter().filter(|(server, _)| !self.stopped.contains(server));
        running.filter_map(|(_, running)| running.process)
    }
}

pub(super) struct Scene {
    pub(super) farm: Farm,
    pub(super) dice: Dice,
    pub(super) disk: Disk,
    pub(super) handles: Vec<Handle>,
    /// Every process that was seen and must still be there.
    pub(super) processes: BTreeMap<Process, u32>,
    /// Processes that were killed, and may not have been missed yet.
    pub(super) killed: BTreeSet<Process>,
    /// Whether each user's program has an environment of its own.
    own_variables: bool,
    /// How many tokens were given.
    tokens: usize,
    log: Log,
}

/// What happened, told when the test fails.
struct Log {
    seed: u64,
    lines: Vec<String>,
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("history of seed {} (KITBAG_SEED repeats it):", self.seed);
            self.lines.iter().enumerate().for_each(|(number, line)| println!("{number:3} {line}"));
        }
    }
}

impl Scene {
    pub(super) fn new(seed: u64) -> Self {
        let farm = Farm::new();
        let mut dice = Dice::seeded(seed);
        let own_variables = dice.roll(4) == 0;
        for user in USERS {
            std::fs::create_dir_all(farm.house.path(&format!("kit/config/servers/user_{user}"))).unwrap();
        }
        Self {
            farm,
            dice,
            disk: Disk {
                shared: Written::whole(Shared::new()),
                own: BTreeMap::new(),
                settings: None,
                answers: BTreeMap::new(),
            },
            handles: Vec::new(),
            processes: BTreeMap::new(),
            killed: BTreeSet::new(),
            own_variables,
            tokens: 0,
            log: Log { seed, lines: Vec::new() },
        }
    }

    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.log.lines.push(line.into());
    }

    /// A word that was not used before.
    pub(super) fn token(&mut self, of: &str) -> String {
        self.tokens += 1;
        format!("{of}-{}", self.tokens)
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.dice.roll(of.len())]
    }

    /// Puts all files where they belong.
    pub(super) fn write(&self) {
        write(&self.disk, &self.farm);
    }

    pub(super) fn variable(&self, user: &str) -> String {
        if self.own_variables { format!("variable-of-{user}") } else { "variable".to_owned() }
    }

    fn env(&self, user: &str) -> Env {
        env(&self.farm, &self.variable(user))
    }

    pub(super) fn setup(&self, user: &str) -> Setup {
        Setup::discover(&request(self.env(user), user)).unwrap()
    }

    /// What a look at the files tells a user who looked before, or never did.
    pub(super) fn look(&self, user: &str, before: Option<&Seen>) -> Seen {
        let none = Seen { is_shared_lost: true, ..Seen::default() };
        let before = before.unwrap_or(&none);
        let Disk { shared, own, settings, answers } = &self.disk;
        let files = || own.iter().filter(|((of, _), _)| of == user).map(|((_, server), file)| (server, file));
        let is_lost =
            |server: &String, file: &Written<Own>| !file.is_whole && !before.own.contains_key(server);
        let own_lost =
            files().filter(|(server, file)| is_lost(server, file)).map(|(server, _)| server.clone());
        let own = files().filter_map(|(server, file)| {
            let says = if file.is_whole { Some(&file.says) } else { before.own.get(server) };
            Some((server.clone(), says?.clone()))
        });
        let settings = match (settings, &before.settings) {
            (None, _) => SettingsSeen::None,
            (Some(Written { says, is_whole: true }), _) => SettingsSeen::Said(says.clone()),
            (Some(_), SettingsSeen::Said(before)) => SettingsSeen::Said(before.clone()),
            (Some(_), _) => SettingsSeen::Unreadable,
        };
        let answers = answers.iter().filter(|((of, ..), _)| of == user);
        Seen {
            shared: if shared.is_whole { &shared.says } else { &before.shared }.clone(),
            is_shared_lost: !shared.is_whole && before.is_shared_lost,
            own: own.collect(),
            own_lost: own_lost.collect(),
            settings,
            answers: answers
                .map(|((_, place, server), answer)| ((*place, server.clone()), answer.clone()))
                .collect(),
            variable: self.variable(user),
            user: user.to_owned(),
        }
    }

    /// Opens a handle for a user and waits for its servers.
    pub(super) async fn open(&self, user: &str) -> Handle {
        let kit = Kitbag::start(self.setup(user), self.farm.options(fast()));
        let seen = self.look(user, None);
        let nothing = BTreeMap::new();
        self.judge_at_once(&kit, &nothing, &seen);
        kit.wait(super::LONG).await;
        Handle { kit, state: State::new(seen, &nothing) }
    }
}

/// A fresh house in which everything is as one handle read it, and a handle there.
pub(super) async fn elsewhere(seen: &Seen) -> (Farm, Kitbag) {
    let farm = Farm::new();
    let user = &seen.user;
    let own =
        seen.own.iter().map(|(server, own)| ((user.clone(), server.clone()), Written::whole(own.clone())));
    let lost = |server: &String| {
        let half = Written { says: Own::Switch(false), is_whole: false };
        ((user.clone(), server.clone()), half)
    };
    let own = own.chain(seen.own_lost.iter().map(lost));
    let answers = seen.answers.iter();
    let disk = Disk {
        shared: Written { says: seen.shared.clone(), is_whole: !seen.is_shared_lost },
        own: own.collect(),
        settings: match &seen.settings {
            SettingsSeen::None => None,
            SettingsSeen::Said(settings) => Some(Written::whole(settings.clone())),
            SettingsSeen::Unreadable => Some(Written { says: Settings::default(), is_whole: false }),
        },
        answers: answers
            .map(|((place, server), answer)| ((user.clone(), *place, server.clone()), answer.clone()))
            .collect(),
    };
    std::fs::create_dir_all(farm.house.path(&format!("kit/config/servers/user_{user}"))).unwrap();
    write(&disk, &farm);
    let env = env(&farm, &seen.variable);
    for ((_, place, server), answer) in &disk.answers {
        keep(&Setup::discover(&request(env.clone(), user)).unwrap(), &farm, *place, server, answer);
    }
    let kit = Kitbag::start(Setup::discover(&request(env, user)).unwrap(), farm.options(fast()));
    kit.wait(super::LONG).await;
    (farm, kit)
}

/// Keeps a user's answer; whether there is an entry that asks.
pub(super) fn keep(setup: &Setup, farm: &Farm, place: Place, server: &str, answer: &str) -> bool {
    let file = match place {
        Place::Shared => farm.house.path(SHARED),
        Place::Own => farm.house.path(&own_file(setup.user.as_str(), server)),
    };
    let specs = setup.merged.servers.iter().filter_map(|row| row.spec.as_ref());
    let name = ServerName::parse(server).unwrap();
    let mut asking = specs.filter(|spec| spec.name == name && *spec.origin.place.file == *file);
    let Some(spec) = asking.next() else { return false };
    SecretStore::keep(&setup.folders, &setup.user, spec, INPUT, &Secret::new(answer)).unwrap();
    true
}

fn request(env: Env, user: &str) -> DiscoverOptions {
    DiscoverOptions { env, user: Some(UserId::parse(user).unwrap()), ..DiscoverOptions::default() }
}

fn env(farm: &Farm, variable: &str) -> Env {
    let vars = farm.house.vars().into_iter().chain([(VARIABLE.to_owned(), variable.to_owned())]);
    Env::new(vars.map(|(name, value)| (name.into(), value.into())), farm.house.path("project"))
}

fn own_file(user: &str, server: &str) -> String {
    format!("kit/config/servers/user_{user}/{server}.json")
}

fn write(disk: &Disk, farm: &Farm) {
    let half = |text: String, is_whole: bool| match is_whole {
        true => text,
        // Of a JSON object nothing but the whole is one.
        false => text[..1 + text.len() / 2].to_owned(),
    };
    farm.house.put(SHARED, half(shared_text(&disk.shared.says, farm), disk.shared.is_whole));
    for user in USERS {
        for server in SERVERS {
            let file = own_file(user, server);
            match disk.own.get(&(user.to_owned(), server.to_owned())) {
                Some(own) => drop(farm.house.put(&file, half(own.says.text(farm, server), own.is_whole))),
                None => drop(std::fs::remove_file(farm.house.path(&file))),
            }
        }
    }
    match &disk.settings {
        Some(Written { says, is_whole: true }) => farm.settings(&says.text()),
        Some(Written { says, is_whole: false }) => farm.settings(&says.half()),
        None => drop(std::fs::remove_file(farm.house.path(SETTINGS))),
    }
}
