//! How one client sees what it is given: what it asks for itself, what the operator says, and what is known of the program
//! it is.
//!
//! | asked | names | mode |
//! |---|---|---|
//! | first | `?names=`, the header `Kitbag-Names` | `?mode=`, the header `Kitbag-Mode` |
//! | then | `[agents.<name>] names` | `[agents.<name>] mode` |
//! | then | `--names` | `--mode` |
//! | then | | `[servers.<name>] mode`, for that server |
//! | then | `[serve] names` | `[serve] mode`, `[present] mode` |
//! | else | short | by the program: see [`hosts`] |

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, HeaderValue, Uri};
use kitbag::{AgentRules, Mode, Setup};
use kitbag_core::names::{LONGEST_SHOWN, NameForm};

use crate::endpoint::EndpointOptions;
use crate::hosts::{self, ANYBODY, Host, ManyTools};

const MODE: &str = "kitbag-mode";
const NAMES: &str = "kitbag-names";

/// Definitions that nobody said a budget for may take so many tokens of a model's context.
const BUDGET: usize = 16_000;

/// What a client asks for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    names: Option<NameForm>,
    mode: Option<Mode>,
}

impl Wishes {
    /// What the address says is what the headers say from here on.
    pub(crate) fn take_from_address(uri: &Uri, headers: &mut HeaderMap) {
        for pair in uri.query().unwrap_or_default().split('&') {
            let header = match pair.split_once('=') {
                Some(("mode", word)) => Some((MODE, word)),
                Some(("names", word)) => Some((NAMES, word)),
                _ => None,
            };
            if let Some((name, word)) = header {
                // What cannot stand in a header is no word of ours, and is told so as an empty one.
                let value = HeaderValue::from_str(word).unwrap_or(HeaderValue::from_static(""));
                headers.insert(name, value);
            }
        }
    }

    /// What the headers say, or why that is nothing.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, String> {
        let word = |name: &str| headers.get(name).map(|word| word.to_str().unwrap_or_default());
        let wrong =
            |what: &str, word: &str, words: &str| format!("{what} {word:?} is not known: write {words}");
        let names = word(NAMES).map(|word| {
            NameForm::parse(word).ok_or_else(|| wrong("the form of names", word, "bare, short or full"))
        });
        let mode = word(MODE).map(parse_mode);
        Ok(Self { names: names.transpose()?, mode: mode.transpose()? })
    }
}

/// A way to show tools to clients, by its word.
pub fn parse_mode(word: &str) -> Result<Mode, String> {
    match Mode::parse(word) {
        Some(mode @ (Mode::Native | Mode::Gateway | Mode::Auto)) => Ok(mode),
        Some(Mode::Search) => {
            Err("the mode search is not supported yet: write native, gateway or auto".to_owned())
        }
        _ => Err(format!("the mode {word:?} is not known: write native, gateway or auto")),
    }
}

/// Who a client is, as far as it said, and what it asked for.
#[derive(Debug)]
pub(crate) struct Audience(Mutex<Said>);

#[derive(Clone, Copy, Debug)]
struct Said {
    wishes: Wishes,
    host: &'static Host,
    longest: usize,
}

impl Default for Audience {
    fn default() -> Self {
        Self(Mutex::new(Said { wishes: Wishes::default(), host: &ANYBODY, longest: LONGEST_SHOWN }))
    }
}

impl Audience {
    /// It asks for this.
    pub(crate) fn wishes(&self, wishes: Wishes) {
        self.said().wishes = wishes;
    }

    /// It calls itself so.
    pub(crate) fn is_called(&self, name: &str) {
        let (host, longest) = hosts::known(name);
        let mut said = self.said();
        (said.host, said.longest) = (host, longest);
    }

    /// What it sees of an agent's tools, and how.
    pub(crate) fn style(&self, setup: &Setup, options: &EndpointOptions, agent: &mut AgentRules) -> Style {
        let Said { wishes, host, longest } = *self.said();
        let serve = setup.serve();
        let usual = options.names.or(serve.names).unwrap_or(NameForm::Short);
        agent.names = wishes.names.or(agent.names).or(Some(usual));
        let longest = options.longest.unwrap_or(longest);
        agent.longest = (longest < LONGEST_SHOWN).then_some(longest);
        let is_ours = |mode: &Mode| matches!(mode, Mode::Native | Mode::Gateway | Mode::Auto);
        let of_all = wishes.mode.or(agent.mode.filter(is_ours)).or(options.mode);
        let rest = serve.mode.filter(is_ours).or(setup.mode().filter(is_ours));
        let by_host = match host.many {
            ManyTools::Deferred => Mode::Native,
            ManyTools::Shown(_) => Mode::Auto,
        };
        let (most, defers) = match host.many {
            ManyTools::Shown(most) => (most, false),
            // Nobody in particular defers nothing: whoever asks for `auto` gets what fits.
            ManyTools::Deferred => (usize::MAX, !std::ptr::eq(host, &ANYBODY)),
        };
        Style {
            of_all,
            rest: rest.unwrap_or(by_host),
            has_own: setup.used().any(|spec| matches!(spec.rules.mode, Some(Mode::Gateway | Mode::Auto))),
            defers,
            most,
            budget: setup.budget().unwrap_or(BUDGET),
            description: host.description,
        }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a client sees tools, beside what they are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// How it sees all of them, where it, its agent or the operator's command says so.
    pub(crate) of_all: Option<Mode>,
    /// How it sees those of servers of which nothing else is said.
    pub(crate) rest: Mode,
    /// Whether something else is said of any server.
    pub(crate) has_own: bool,
    /// Whether it shows tools to its model as they are needed.
    pub(crate) defers: bool,
    /// The most tools it takes.
    pub(crate) most: usize,
    /// The most tokens their definitions may take.
    pub(crate) budget: usize,
    /// The most characters of a description.
    pub(crate) description: usize,
}
