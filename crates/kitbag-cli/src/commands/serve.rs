//! `kitbag serve`: everything a user may have, at one address for every MCP host.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::SystemTime;

use kitbag::approvals::AskElsewhere;
use kitbag::store::Store;
use kitbag::{Approver, BoxFuture, Kitbag, Mode, OpenOptions, Setup, UserId};
use kitbag_core::names::NameForm;
use kitbag_core::text::visible;
use kitbag_server::{Endpoint, EndpointOptions, HttpOptions, Kits};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;
use tracing::level_filters::LevelFilter;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::follow::Followers;
use crate::link_args::{self, LinkArgs};
use crate::log::LogArgs;
use crate::{live, log, store};

mod news;
mod screen;
mod taken;

use screen::Served;
pub(super) use screen::entry_name;
use taken::Holder;

/// Where the endpoint listens unless told otherwise.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8420);

const EXAMPLES: &str = "\
Examples:
  kitbag serve                         its address, and how to connect hosts
  kitbag serve --mode gateway          one tool per server, for small models
  kitbag serve --listen 0.0.0.0:8420   for other machines, which need a token

A client may ask for another look in its address: /mcp?mode=gateway&names=bare.
One server is at /mcp/s/<server>, an agent of kitbag.toml at /mcp/a/<agent>.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Listen at this address or port (127.0.0.1:8420); port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    look: LookArgs,
    /// Ask for a token on this machine, too; other addresses always need one
    #[arg(long)]
    require_token: bool,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    link: LinkArgs,
}

/// How clients see the tools.
#[derive(Debug, clap::Args)]
pub(super) struct LookArgs {
    /// Which form of name clients see: bare, short or full (short)
    #[arg(long, value_name = "FORM", value_parser = form)]
    names: Option<NameForm>,
    /// How clients see tools: each (native), one per server (gateway), or as many as fit (auto);
    /// what suits each program without it
    #[arg(long, value_name = "MODE", value_parser = kitbag_server::parse_mode)]
    mode: Option<Mode>,
}

impl LookArgs {
    pub(super) fn options(&self) -> EndpointOptions {
        EndpointOptions { names: self.names, mode: self.mode, ..EndpointOptions::default() }
    }
}

/// An address with its port, or a port of this machine alone.
fn address(word: &str) -> Result<SocketAddr, String> {
    let port = word.strip_prefix("localhost:").or(word.strip_prefix(':')).unwrap_or(word);
    let here = |port| SocketAddr::new(LISTEN.ip(), port);
    let parsed = port.parse().map(here).or_else(|_| word.parse());
    parsed.map_err(|_| {
        "write a port, such as 8080, or an address and a port, such as 127.0.0.1:8080".to_owned()
    })
}

fn form(word: &str) -> Result<NameForm, String> {
    NameForm::parse(word).ok_or_else(|| "write bare, short or full".to_owned())
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = link_args::setup_in_use(context, &args.link)?;
    log::start(context, &args.log, setup.env().get("KITBAG_LOG"), LevelFilter::INFO)?;
    let store = store::open(&setup)?;
    let limits = setup.limits.clone();
    let says = setup.serve();
    let listen = args.listen.map_or_else(|| usual_address(&setup), Ok)?;
    let require_token = args.require_token || says.require_token || !listen.ip().is_loopback();
    let most = limits.drain * 2 + limits.wait_end + limits.wait_signal;
    let done = live::serve_on(most, async |stop| {
        is_enterable(listen, &*store).await?;
        // Before any server is started: a port that is taken starts nothing.
        let listener = TcpListener::bind(listen).await.map_err(|error| cannot_listen(listen, &error))?;
        let address = listener.local_addr().map_err(|error| cannot_listen(listen, &error))?;
        let kits = AllKits::start(context, setup)?;
        let (all, kit) = (kits.clone(), kits.first.clone());
        let setup = kit.setup();
        let (url, is_demo) = (format!("http://{address}/mcp"), kits.is_demo);
        screen::begin(context, &Served { setup: &setup, url, require_token, is_demo });
        let endpoint = Endpoint::new(kits, args.look.options());
        let options = HttpOptions {
            store: Some(store),
            require_token,
            allowed_hosts: says.allowed_hosts,
            allowed_origins: says.allowed_origins.unwrap_or_default(),
            limits: limits.into(),
        };
        let served = tokio::select! {
            served = kitbag_server::serve_http(endpoint, listener, options, stop) => served,
            never = screen::follow(context, &kit) => match never {},
        };
        served.map_err(|error| Failure::new(Exit::Bug, error.to_string()))?;
        all.close().await;
        Ok(Exit::Done)
    });
    log::finish();
    done
}

/// Where others can come, somebody must have a token: else nobody could come in, and nothing would say why.
async fn is_enterable(listen: SocketAddr, store: &dyn Store) -> Result<(), Failure> {
    if listen.ip().is_loopback() {
        return Ok(());
    }
    let tokens = store.all_tokens().await.map_err(|error| store::refused(&error))?;
    if tokens.iter().any(|token| !token.is_expired(SystemTime::now())) {
        return Ok(());
    }
    let message = format!("{listen} can be reached by other machines, and nobody has a token");
    Err(Failure::new(Exit::Config, message).hint("kitbag tokens add NAME, also --user ID"))
}

/// Where the settings say, or the usual address.
pub(crate) fn usual_address(setup: &Setup) -> Result<SocketAddr, Failure> {
    let Some(said) = setup.serve().listen else { return Ok(LISTEN) };
    address(&said).map_err(|_| {
        let message = format!("\"listen\" in [serve] cannot be {:?}", visible(&said));
        Failure::new(Exit::Config, message).hint("write an address and a port, such as \"127.0.0.1:8420\"")
    })
}

/// Says who has the port, where that can be known.
fn cannot_listen(listen: SocketAddr, error: &std::io::Error) -> Failure {
    let failed = |why: String| Failure::new(Exit::Unavailable, format!("cannot listen at {listen}: {why}"));
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return failed(error.to_string()).hint("--listen ADDRESS, such as 127.0.0.1:8420");
    }
    match taken::holder(listen) {
        Some(Holder { pid, is_kitbag: true, at, .. }) => {
            failed(format!("another kitbag serve (process {pid}) serves at http://{at}/mcp"))
                .hint("connect hosts to that one, or take a free port: --listen 127.0.0.1:0")
        }
        Some(Holder { pid, program, .. }) => {
            failed(format!("{} (process {pid}) has the port", visible(&program)))
                .hint("--listen 127.0.0.1:0 takes a free port")
        }
        None => failed(error.to_string()).hint("--listen 127.0.0.1:0 takes a free port"),
    }
}

/// The handles of all users: opened when they first come, kept until the end.
#[derive(Clone)]
pub(super) struct AllKits {
    first: Kitbag,
    options: OpenOptions,
    /// Whether the demo tools are served because there is nothing else.
    pub(super) is_demo: bool,
    others: Arc<Mutex<HashMap<UserId, Kitbag>>>,
    followers: Followers,
}

impl AllKits {
    /// Starts with the user of the flags. With nothing configured the demo tools are served.
    pub(super) fn start(context: &mut Context, setup: Setup) -> Result<Self, Failure> {
        live::tell(context, &crate::present::without_a_model(&setup));
        let is_empty = setup.used().next().is_none() && setup.catalog.is_empty();
        let is_demo = is_empty && !context.global.demo;
        context.global.demo |= is_empty;
        let options = link_args::options(context, &setup)?;
        let answers = vec![
            kitbag::QuestionKind::Sampling,
            kitbag::QuestionKind::Elicitation,
            kitbag::QuestionKind::Roots,
        ];
        let local = live::demo(context, &setup);
        // Nobody sits here: who may answer reads `kitbag approvals`.
        let approver = Some(Arc::new(AskElsewhere) as Arc<dyn Approver>);
        let options = OpenOptions { answers, local, approver, ..options };
        let first = Kitbag::start(setup, options.clone());
        let followers = Followers::new(context);
        followers.add(&first);
        Ok(Self { first, options, is_demo, others: Arc::default(), followers })
    }
}

impl AllKits {
    /// Ends all servers; a first download may go on for a while.
    pub(super) async fn close(&self) {
        self.followers.end().await;
        let others = TaskTracker::new();
        for kit in self.others.lock().await.values() {
            let kit = kit.clone();
            others.spawn(async move { kit.close().await });
        }
        others.close();
        self.first.close_and_exit().await;
        others.wait().await;
    }
}

impl Kits for AllKits {
    fn kit<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Option<Kitbag>> {
        Box::pin(async move {
            if self.first.user() == user {
                return Some(self.first.clone());
            }
            let mut others = self.others.lock().await;
            if !self.knows(user) {
                // What still runs for them ends with its handle.
                others.remove(user);
                return None;
            }
            if let Some(kit) = others.get(user) {
                return Some(kit.clone());
            }
            let setup = Setup::clone(&self.first.setup()).for_user(user.clone()).again().ok()?;
            let kit = Kitbag::start(setup, self.options.clone());
            self.followers.add(&kit);
            others.insert(user.clone(), kit.clone());
            Some(kit)
        })
    }

    fn knows(&self, user: &UserId) -> bool {
        self.first.user() == user || self.first.setup().knows(user)
    }

    fn open(&self) -> BoxFuture<'_, Vec<Kitbag>> {
        Box::pin(async move {
            let others = self.others.lock().await;
            std::iter::once(&self.first).chain(others.values()).cloned().collect()
        })
    }
}
