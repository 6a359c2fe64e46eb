//! What a server lists beside tools: asked for when somebody wants it, and kept until the server says that it changed, its
//! time is over, or another conversation has begun. The last good list stays while a new one cannot be had.

use std::sync::Arc;
use std::time::Duration;

use kitbag_core::ErrorKind;
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::list::{self, ItemList, ListKind};
use super::super::open::Session;
use super::super::peer::RequestError;
use super::{Away, Link};

/// The lists of one link.
#[derive(Default)]
pub(super) struct KeptLists([watch::Sender<KeptList>; ListKind::ALL.len()]);

#[derive(Clone, Default)]
struct KeptList {
    list: Option<Arc<ItemList>>,
    /// What the server had told when it was asked.
    told: [u64; 2],
    /// Until when it holds, where nobody tells of changes.
    until: Option<Instant>,
    /// Why there is no newer one.
    problem: Option<ItemProblem>,
    /// Since when somebody asks the server.
    asking: Option<Instant>,
    /// Counts the answers.
    answers: u64,
}

/// What a server lists of one kind, as far as is known now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// The last good list.
    pub(crate) list: Option<Arc<ItemList>>,
    /// Why it may not be what the server would say now.
    pub(crate) problem: Option<ItemProblem>,
}

/// Why a list cannot be had.
#[derive(Clone, Debug)]
pub(crate) struct ItemProblem {
    pub(crate) kind: ErrorKind,
    /// In one line, without secrets.
    pub(crate) message: String,
}

impl KeptList {
    fn is_fresh(&self, told: [u64; 2], now: Instant) -> bool {
        let holds = self.until.is_none_or(|until| now < until);
        self.answers != 0 && self.is_since(told) && holds
    }

    /// Whether the server was asked after it had told this.
    fn is_since(&self, told: [u64; 2]) -> bool {
        told[0] <= self.told[0] && told[1] <= self.told[1]
    }

    fn items(&self) -> Items {
        Items { list: self.list.clone(), problem: self.problem.clone() }
    }
}

impl Link {
    /// Tells when what the server lists beside tools may be another.
    pub(crate) fn watch_lists(&self) -> watch::Receiver<super::super::news::ListChanges> {
        self.0.news.changes()
    }

    /// What the server says that it offers, while it is connected.
    pub(crate) fn features(&self) -> Option<super::super::era::ServerFeatures> {
        self.current().map(|session| session.greeting.features)
    }

    /// A list, waiting for it no longer than to a moment, and for a server that is slow only once.
    pub(crate) async fn items(&self, kind: ListKind, until: Instant) -> Items {
        let kept = &self.0.lists.0[kind as usize];
        let told = self.0.news.changes().borrow().of(kind);
        let mut answers = kept.subscribe();
        let now = Instant::now();
        let patience = self.0.plan.limits.wait_agent;
        let mut seen = (0, until);
        let is_fresh = {
            let before = kept.borrow();
            seen.0 = before.answers;
            seen.1 = before.asking.map_or(until, |since| until.min(since + patience));
            before.is_fresh(told, now)
        };
        if is_fresh {
            return kept.borrow().items();
        }
        let (mut before, until) = seen;
        loop {
            self.ask_for(kind, told);
            let answered = answers.wait_for(|kept| kept.answers != before);
            match tokio::time::timeout_at(until, answered).await {
                // Somebody else may have asked before the server told of a change.
                Ok(Ok(kept)) if !kept.is_since(told) => before = kept.answers,
                Ok(Ok(kept)) => return kept.items(),
                _ => return self.late(kind, now.elapsed()),
            }
        }
    }

    /// What is known while the answer does not come.
    fn late(&self, kind: ListKind, waited: Duration) -> Items {
        let known = self.0.lists.0[kind as usize].borrow().items();
        let (problem_kind, message) = match self.current() {
            None => {
                let Away { kind, message, .. } = self.why_away();
                (kind, message)
            }
            Some(_) => {
                let seconds = kitbag_core::model::Seconds(waited.max(Duration::from_millis(1)));
                (ErrorKind::Timeout, format!("no answer to {} within {seconds}", kind.method()))
            }
        };
        Items { problem: Some(ItemProblem { kind: problem_kind, message }), ..known }
    }

    /// Asks the server in the background, unless somebody does so already.
    fn ask_for(&self, kind: ListKind, told: [u64; 2]) {
        let kept = &self.0.lists.0[kind as usize];
        let is_first = kept.send_if_modified(|kept| {
            let is_first = kept.asking.is_none();
            kept.asking.get_or_insert_with(Instant::now);
            is_first
        });
        if !is_first {
            return;
        }
        let link = self.clone();
        self.0.tasks.spawn(async move {
            let asked = tokio::select! {
                biased;
                () = link.0.stop.cancelled() => None,
                asked = link.fetch(kind) => Some(asked),
            };
            link.keep(kind, told, asked);
        });
    }

    async fn fetch(&self, kind: ListKind) -> Result<ItemList, ItemProblem> {
        let limits = &self.0.plan.limits;
        let session = self.session(Instant::now() + limits.wait_list).await;
        let session = session.map_err(|Away { kind, message, .. }| ItemProblem { kind, message })?;
        let features = session.greeting.features;
        let is_offered = match kind {
            ListKind::Resources | ListKind::Templates => features.resources,
            ListKind::Prompts => features.prompts,
        };
        if !is_offered {
            return Ok(ItemList::default());
        }
        match list::items(&session.peer, session.greeting.era, limits, kind).await {
            // Many servers have resources and have never heard of templates.
            Err(RequestError::Remote { code: -32601, .. }) => Ok(ItemList::default()),
            Ok(list) => Ok(self.cleaned(list)),
            Err(error) => Err(self.problem(&session, kind, error)),
        }
    }

    fn problem(&self, session: &Session, kind: ListKind, error: RequestError) -> ItemProblem {
        let words = session.redactor.line(error.to_string().as_bytes());
        let message = format!("{} failed: {words}", kind.method());
        let kind = match &error {
            RequestError::Timeout { .. } => ErrorKind::Timeout,
            RequestError::BadAnswer(_) | RequestError::NotMcp(_) => ErrorKind::BadAnswer,
            RequestError::TooLarge { .. } => ErrorKind::TooLarge,
            RequestError::Remote { .. } => ErrorKind::ServerError,
            _ => error.into_reason().class.kind(),
        };
        ItemProblem { kind, message: kitbag_core::text::cut(message, self.0.plan.limits.error) }
    }

    /// The same with words of the server's that may be shown.
    fn cleaned(&self, mut list: ItemList) -> ItemList {
        if let Some(cut) = &mut list.truncated {
            cut.why = self.0.plan.said(&cut.why);
        }
        for rejected in &mut list.rejected {
            rejected.why = self.0.plan.said(&rejected.why);
        }
        list
    }

    /// Takes an answer over. Half a list is worth more than none, but not more than a whole one from before.
    fn keep(&self, kind: ListKind, told: [u64; 2], asked: Option<Result<ItemList, ItemProblem>>) {
        let limits = &self.0.plan.limits;
        let tells = self.features().is_some_and(|features| match kind {
            ListKind::Resources | ListKind::Templates => features.resources_changed,
            ListKind::Prompts => features.prompts_changed,
        });
        // Another conversation may have begun while the server was waited for: what it lists is then news already.
        let told = match told[0] {
            0 => self.0.news.changes().borrow().of(kind),
            _ => told,
        };
        self.0.lists.0[kind as usize].send_modify(|kept| {
            (kept.asking, kept.told, kept.answers) = (None, told, kept.answers + 1);
            match asked {
                Some(Ok(list)) if !list.broke_off || kept.list.is_none() => {
                    let holds = list.ttl.or((!tells).then_some(limits.poll));
                    kept.until = holds.and_then(|holds| Instant::now().checked_add(holds));
                    (kept.list, kept.problem) = (Some(Arc::new(list)), None);
                }
                Some(Ok(list)) => {
                    let message = list.truncated.map(|cut| cut.why).unwrap_or_default();
                    kept.problem = Some(ItemProblem { kind: ErrorKind::ServerError, message });
                    kept.until = Some(Instant::now() + limits.refresh);
                }
                Some(Err(problem)) => {
                    kept.problem = Some(problem);
                    kept.until = Some(Instant::now() + limits.refresh);
                }
                None => {
                    kept.problem =
                        Some(ItemProblem { kind: ErrorKind::Unavailable, message: "is stopped".to_owned() })
                }
            }
        });
    }
}
