//! Every bound and every clock Kitbag keeps, in one table.

use std::time::Duration;

/// What a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitValue {
    /// Bytes; written `4MiB`.
    Bytes(usize),
    /// Things.
    Items(usize),
    /// Time; written `5s`.
    Time(Duration),
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// Its key in `[limits]`.
    pub name: &'static str,
    /// What it bounds.
    pub what: &'static str,
    /// Its value.
    pub bound: LimitValue,
}

macro_rules! limits {
    (@type Bytes) => { usize };
    (@type Items) => { usize };
    (@type Time) => { Duration };
    ($($name:ident: $kind:ident = $default:expr, $what:literal;)*) => {
        /// All limits and timeouts. Each has a default that suits a person's machine and a row in `[limits]`.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct Limits { $(#[doc = $what] pub $name: limits!(@type $kind)),* }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        impl Limits {
            /// The names of all rows.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The table as it stands.
            pub fn rows(&self) -> Vec<LimitRow> {
                vec![$(LimitRow { name: stringify!($name), what: $what, bound: LimitValue::$kind(self.$name) }),*]
            }

            /// Sets one row by its name; whether there is such a row of that kind.
            pub fn set(&mut self, name: &str, bound: LimitValue) -> bool {
                match (name, bound) {
                    $((stringify!($name), LimitValue::$kind(value)) => self.$name = value,)*
                    // A plain number is as good a size as any.
                    (_, LimitValue::Items(value)) => return self.set_bytes(name, value),
                    _ => return false,
                }
                true
            }

            fn set_bytes(&mut self, name: &str, value: usize) -> bool {
                match (name, LimitValue::Bytes(value)) {
                    $((stringify!($name), LimitValue::$kind(value)) => self.$name = value,)*
                    _ => return false,
                }
                true
            }

            /// The same with every clock running this many times as fast: for tests.
            pub fn faster(&self, times: u32) -> Self {
                let mut fast = self.clone();
                for row in self.rows() {
                    if let LimitValue::Time(time) = row.bound {
                        fast.set(row.name, LimitValue::Time(time / times));
                    }
                }
                fast
            }
        }
    };
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

limits! {
    config_file: Bytes = 4 << 20, "one configuration file";
    config_depth: Items = 64, "levels of nesting in a configuration file";
    config_nodes: Items = 500_000, "values in a configuration file, aliases expanded";
    config_faults: Items = 200, "faults shown of one configuration file";
    config_files: Items = 20_000, "files read from one folder of servers";
    wait_agent: Time = seconds(5), "how long an agent or command waits for its servers";
    wait_stdio: Time = seconds(60), "until a started program is connected";
    wait_download: Time = seconds(600), "until a program is connected that its launcher (npx, uvx, docker run, …) downloads first";
    start_linger: Time = seconds(600), "how long a first download may go on after the command that began it has ended as it should";
    wait_http: Time = seconds(30), "until an address is connected";
    wait_list: Time = seconds(30), "until a server's tools are listed";
    wait_idle: Time = seconds(300), "silence during a call; progress starts it anew";
    wait_total: Time = seconds(600), "a whole call, progress or not";
    wait_end: Time = seconds(5), "until a server and all its processes are gone";
    wait_code: Time = seconds(10), "how long a hook, tool, approver, permit or responder of the program may compute without yielding";
    wait_signal: Time = seconds(3), "until the kitbag process ends after SIGINT or SIGTERM, whatever hangs in it";
    drain: Time = seconds(5), "how long calls in flight may go on once their server is replaced or Kitbag is closed";
    probe: Time = seconds(20), "until a server that shows no life is taken for one of the older protocol";
    restart_first: Time = seconds(1), "before the second try to start a server; doubles with each";
    restart_most: Time = seconds(30), "between two tries, at most";
    retry_failed: Time = seconds(60), "before a server that cannot be used as it is (no such program, not allowed in) is tried again; doubles with each";
    retry_failed_most: Time = seconds(900), "between two such tries, at most";
    breaker_failures: Items = 5, "calls in a row that a server leaves unanswered before calls to it fail at once";
    breaker_window: Time = seconds(600), "within which these calls must have ended";
    breaker_open: Time = seconds(30), "how long calls then fail at once, before one is let through";
    steady: Time = seconds(60), "after which a server counts as running well";
    watch: Time = seconds(2), "between two looks at whether a configuration file changed";
    refresh: Time = seconds(5), "between two refreshes of a tool list, at least; doubles while nothing changes";
    poll: Time = seconds(300), "between two refreshes of a tool list whose server neither tells of changes nor says how long it holds; what refresh grows to";
    holds: Time = seconds(24 * 3600), "how long a list of a server is believed to hold, whatever it says";
    eras: Items = 10_000, "servers of which it is remembered which protocol they speak";
    line: Bytes = 16 << 20, "one message of a server";
    http_headers: Bytes = 64 << 10, "the headers of one answer";
    http_page: Bytes = 64 << 10, "what is read of an answer that refuses";
    http_idle: Time = seconds(4), "how long an idle connection to an address is used again; many servers close theirs after 5 s";
    http_posts: Items = 256, "requests in flight to one address";
    redirects: Items = 3, "times one request is sent on within its origin";
    resume: Time = seconds(1), "before a stream of events that ended is taken up again, if its server says nothing";
    resumes: Items = 5, "tries in a row to take up the stream of one answer";
    depth: Items = 128, "levels of nesting in a message";
    queue: Items = 256, "messages waiting to be sent to one server";
    notes: Items = 1024, "notes of one call waiting to be read";
    concurrency: Items = 16, "calls in flight to one server";
    questions: Items = 8, "questions of one server open at once";
    late_questions: Time = seconds(10), "after a call was given up, how long a question that names no call may be about it: other clients of the same user are not asked so long";
    unanswered: Items = 1_000, "calls given up that one server may still work on; questions about forgotten ones reach nobody";
    code_threads: Items = 16, "threads for hooks, tools, approvers, permits and responders of the program; calls that need one are refused when all hang";
    rounds: Items = 10, "times one call may ask in return";
    pages: Items = 100, "pages of one tool list";
    tools: Items = 5_000, "tools of one server";
    resources: Items = 5_000, "resources of one server, and as many templates";
    prompts: Items = 1_000, "prompts of one server";
    uri: Bytes = 8 << 10, "the URI of a resource";
    links: Items = 10_000, "links to resources in results whose servers are remembered, of all users";
    subscriptions: Items = 1_000, "resources of one server that are subscribed to";
    names: Items = 20_000, "names kept for the tools of one server; more are names with a hash, kept while they are listed";
    names_file: Bytes = 64 << 20, "one file of the names given to tools; a larger one is neither read nor written";
    cursor: Bytes = 64 << 10, "the cursor of a page";
    stderr: Bytes = 64 << 10, "the last of a server's stderr, kept in memory";
    stderr_pause: Time = seconds(1), "silence after which a line of stderr that has not ended is written to the log";
    log: Bytes = 1 << 20, "the log file of one server";
    description: Bytes = 16 << 10, "the description of one tool";
    result: Bytes = 100 << 10, "the part of one result that is handed over at once; the rest can be read by page";
    result_ttl: Time = seconds(3600), "how long the rest of a result can be read";
    list: Bytes = 32 << 20, "all pages of one server's list of tools";
    results: Bytes = 256 << 20, "all results that wait to be read on, of all users; the oldest go first";
    blocks: Items = 10_000, "pieces of content in one result; one with more is handed over as text";
    remarks: Items = 20, "remarks about one result; more are counted";
    error: Bytes = 8 << 10, "the words of one error of a server";
    files: Items = 1_000, "files that `kitbag call` saves of one result";
    saved: Bytes = 256 << 20, "files of results that `kitbag call` keeps in the state folder, of all users; the oldest go first";
    schema_nodes: Items = 20_000, "values in the schema of one tool";
    schema_bytes: Bytes = 1 << 20, "text in the schema of one tool";
    schema_depth: Items = 64, "levels of nesting in a schema, and references in a row";
    schema_ways: Items = 10_000, "ways in which a schema looks at one and the same value";
    schema_steps: Items = 1_000_000, "steps to check one value against a schema";
    approval_poll: Time = Duration::from_millis(250), "between two looks whether another process approved a call";
    pin_poll: Time = seconds(5), "between two looks whether another process approved a definition that is held";
    approvals: Items = 1_000, "approvals of one user that wait for an answer at once";
    store_wait: Time = seconds(5), "until the database is connected, or others let go of its lock";
    store_query: Time = seconds(30), "until the database has done what it was asked";
    audit_queue: Items = 10_000, "rows of the audit log that wait to be written; more are counted and lost";
    audit_bytes: Bytes = 64 << 20, "all of these rows together";
    audit_batch: Items = 500, "rows of the audit log written in one step";
    audit_gather: Time = Duration::from_millis(100), "during which rows of the audit log are gathered for the next step, where the last one is not longer ago";
    audit_retry: Time = seconds(1), "before rows of the audit log that could not be written are tried again";
    audit_keep: Time = seconds(90 * 24 * 3600), "how long rows of the audit log are kept";
    audit_rows: Items = 1_000_000, "rows of the audit log; of more the oldest go";
    audit_most: Bytes = 1 << 30, "all rows of the audit log together; of more the oldest go";
    audit_rotate: Time = seconds(3600), "between two looks at whether rows of the audit log must go";
    serve_connections: Items = 1_000, "connections to the endpoint at once; more are closed";
    serve_sessions: Items = 10_000, "sessions of clients of the older protocol; with more, idle ones end";
    serve_user_sessions: Items = 1_000, "of these, sessions of one user; with more, the one ends that is missed least";
    serve_streams: Items = 200, "streams of one user that are open at the endpoint at once";
    serve_backlog: Bytes = 64 << 20, "requests of one client in flight over stdio or HTTP+SSE; with more, stdio is not read on and HTTP refuses";
    serve_write: Time = seconds(30), "until a client of the endpoint takes more of what is sent to it; then its connection is closed";
    serve_idle: Time = seconds(1800), "after which a session that nobody uses may end";
    serve_headers: Time = seconds(10), "until a client of the endpoint has sent the headers of a request";
    serve_request: Time = seconds(30), "until it has sent the body";
    serve_body: Bytes = 8 << 20, "the body of one request to the endpoint";
    serve_tokens: Time = seconds(1), "between two looks whether the tokens of what is open at the endpoint are still good";
    serve_rate: Items = 1_000, "requests of one user to the endpoint in a second";
    serve_burst: Items = 10_000, "requests of one user at once, after a pause";
    serve_calls: Items = 256, "calls of one user at the endpoint at once; more are refused";
    serve_session_calls: Items = 128, "calls of one session or stdio client at once; more are refused";
    serve_alive: Time = seconds(15), "between two signs of life on a stream of the endpoint that has nothing to say";
    serve_parked: Items = 32, "calls of one user that wait until their client, of the newer protocol, has answered what an older server asks";
    serve_parked_all: Items = 256, "such calls of all users";
    serve_parked_time: Time = seconds(300), "how long such a call waits before it is cancelled";
    model_tries: Items = 5, "tries of one request to a model whose host is busy or away";
    model_backoff: Time = seconds(1), "before the second such try, if the host says nothing; doubles with each";
    model_backoff_most: Time = seconds(60), "between two such tries, at most; a host that asks for more time is not tried again";
    model_first: Time = seconds(300), "until a model begins to answer";
    model_idle: Time = seconds(120), "silence of a model in the middle of a reply";
    model_reply: Bytes = 16 << 20, "one reply of a model";
    model_tokens: Items = 8_192, "tokens of one reply, asked of providers that must be told";
    agent_steps: Items = 50, "replies of the model in one run of an agent";
    agent_thoughts: Items = 5, "replies of the model in one run of an agent that calls tools by text, unless it says otherwise";
    constrained_tools: Items = 128, "tools whose calls are spelt out in what a constrained agent's model may reply; of more only the names are";
    constrained_schema: Bytes = 256 << 10, "the JSON Schema of all these calls; of one that is larger only the names are spelt out";
    agent_repeats: Items = 5, "equal calls in a row, with equal results, before an agent's run ends; half as many are told to the model";
    agent_program: Time = seconds(3600), "a whole run of an agent that is another program";
    agent_program_said: Bytes = 16 << 20, "one line of what such a program says, and all it says where that is no events; more is left out";
    delegate_steps: Items = 15, "replies of the model in one call of a tool in agent mode";
    sampling: Bytes = 1 << 20, "what a server sends to a model at once (sampling)";
    samplings: Items = 100, "times a server may ask the model something (sampling) for one user while the program runs";
    flow_file: Bytes = 16 << 20, "one drawing of a flow";
    flow_nodes: Items = 10_000, "nodes of one drawing";
    flow_steps: Items = 1_000_000, "nodes one run of a flow goes through, repeated ones counted each time";
    flow_depth: Items = 50, "branches, loops and drawings within one another that a flow may be in";
    flow_value: Bytes = 16 << 20, "one string or list that a node of a flow makes";
    flow_sleep: Time = seconds(3600), "what one node of a flow may wait for at once";
    conversation: Bytes = 64 << 20, "one conversation of an agent; the oldest turns are forgotten first";
    conversations: Items = 1_000, "conversations kept of one user; of more the one used least lately goes";
    audit_flush: Time = seconds(5), "until the rows of the audit log that wait are written, at the end";
}
