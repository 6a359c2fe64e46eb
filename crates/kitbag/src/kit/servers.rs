//! The servers of one setup: which are opened, which are kept when the files change, which are not used.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag_core::config::layers::{Layer, State};
use kitbag_core::model::Resolved;
use kitbag_core::{Fault, ServerName, ServerSpec, Transport};
use tokio_util::sync::CancellationToken;

use crate::Setup;
use crate::connect::{Key, Lease, Link, LinkState, Status, Supply, Surroundings};
use crate::kit::ServerStatus;

/// One server that is used.
pub(super) struct Opened {
    pub(super) lease: Lease,
    pub(super) transport: Transport,
    pub(super) fingerprint: String,
    pub(super) required: bool,
    key: Option<Key>,
    /// Ends the following of its tools.
    pub(super) following: CancellationToken,
}

/// Opens the servers a setup uses; those in `old` that are still the same are kept, process and session.
pub(super) fn open(
    setup: &Arc<Setup>,
    around: &Arc<Surroundings>,
    mut old: BTreeMap<ServerName, Opened>,
    wanted: impl Fn(&ServerSpec) -> bool,
    lazy: impl Fn(&ServerSpec) -> bool,
) -> Servers {
    let mut servers = Servers::default();
    for spec in setup.used().filter(|spec| setup.switched_on && wanted(spec)) {
        let (key, fingerprint) = (key(setup, spec, around), spec.fingerprint());
        let before = old.remove(&spec.name);
        let opened = match before {
            Some(kept) if kept.key == key && kept.fingerprint == fingerprint => {
                Opened { required: spec.required, ..kept }
            }
            changed => {
                servers.ending.extend(changed.and_then(Opened::let_go));
                let spec = &ServerSpec { lazy: lazy(spec), ..spec.clone() };
                let lease = lease(setup, spec, key.clone(), around);
                servers.new.push(spec.name.clone());
                let (transport, following) = (spec.transport(), CancellationToken::new());
                Opened { lease, transport, fingerprint, required: spec.required, key, following }
            }
        };
        servers.open.insert(spec.name.clone(), opened);
    }
    for (name, gone) in old {
        servers.gone.push(name);
        servers.ending.extend(gone.let_go());
    }
    servers
}

impl Opened {
    /// Its tools are no longer followed; the link, if it ends by that.
    fn let_go(self) -> Option<Link> {
        self.following.cancel();
        self.lease.release()
    }
}

/// What opening came to.
#[derive(Default)]
pub(super) struct Servers {
    pub(super) open: BTreeMap<ServerName, Opened>,
    /// Which of them were not open before.
    pub(super) new: Vec<ServerName>,
    /// Which were open and are no longer used.
    pub(super) gone: Vec<ServerName>,
    /// Links that end by that.
    pub(super) ending: Vec<Link>,
}

fn lease(setup: &Arc<Setup>, spec: &ServerSpec, key: Option<Key>, around: &Arc<Surroundings>) -> Lease {
    let supply = FromSetup {
        name: spec.name.clone(),
        first: std::sync::Mutex::new(Some(setup.clone())),
        setup: setup.clone(),
    };
    let lease = Lease::take(key, || Link::start(spec, Arc::new(supply), around));
    if !spec.lazy {
        lease.link().want();
    }
    lease
}

/// What a server is shared by, if it can be: not before its values are known.
fn key(setup: &Setup, spec: &ServerSpec, around: &Surroundings) -> Option<Key> {
    let row =
        setup.merged.servers.iter().find(|row| row.spec.as_ref().is_some_and(|s| s.name == spec.name))?;
    let owner = matches!(row.layer, Layer::User(_)) || !spec.inputs.is_empty();
    let resolved = setup.resolve(spec, &row.layer).ok()?;
    Key::of(spec.name.as_str(), &resolved, owner.then_some(&setup.user), around)
}

/// Servers that are known but not used.
pub(super) fn others(setup: &Setup) -> Vec<ServerStatus> {
    let state = |state: State| match state {
        State::Disabled => Some(LinkState::Disabled),
        State::Held => Some(LinkState::Held),
        State::Broken => Some(LinkState::Failed),
        _ => None,
    };
    let row = |row: &kitbag_core::config::layers::Server| {
        let mut status = Status::new(
            state(row.state)
                .filter(|_| !matches!(row.layer, Layer::Host(_)) || row.state == State::Disabled)?,
        );
        status.error = row
            .faults
            .iter()
            .max_by_key(|fault| fault.severity)
            .filter(|_| row.state == State::Broken)
            .map(|fault| fault.message.clone());
        Some(ServerStatus {
            name: row.name.clone(),
            transport: row.spec.as_ref().map(ServerSpec::transport),
            status,
        })
    };
    setup.merged.servers.iter().filter_map(row).collect()
}

/// A server's description as the files say it now. The first time they were just read.
struct FromSetup {
    name: ServerName,
    first: std::sync::Mutex<Option<Arc<Setup>>>,
    setup: Arc<Setup>,
}

impl Supply for FromSetup {
    fn spec(&self) -> Option<(ServerSpec, Result<Resolved, Vec<Fault>>)> {
        let first = self.first.lock().ok().and_then(|mut first| first.take());
        let now = match first {
            Some(setup) => setup,
            None => Setup::discover(self.setup.request()).map_or_else(|_| self.setup.clone(), Arc::new),
        };
        let row = now
            .merged
            .servers
            .iter()
            .find(|row| row.name == self.name.as_str() && row.state == State::Used)?;
        let spec = row.spec.clone()?;
        let resolved = now.resolve(&spec, &row.layer);
        Some((spec, resolved))
    }
}
