//! Collecting documents layer by layer.

use super::*;

/// What was read so far.
pub(super) struct Gathered<'a> {
    env: &'a Env,
    folders: &'a Folders,
    trust: &'a Trust,
    user: UserId,
    users: BTreeSet<UserId>,
    limits: Limits,
    documents: Vec<Layered>,
    settings: Vec<(PathBuf, settings::Settings)>,
    searched: Vec<Searched>,
    faults: Vec<Fault>,
    seen: BTreeSet<PathBuf>,
    dot_env: BTreeMap<String, String>,
    switched_on: bool,
    held_settings: Option<Approval>,
    /// Whether `MCP_HUB_URL` stands in for all files.
    hub: bool,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(env: &'a Env, folders: &'a Folders, trust: &'a Trust, user: UserId) -> Self {
        Self {
            env,
            folders,
            trust,
            users: BTreeSet::from([UserId::local()]),
            user,
            limits: Limits::default(),
            documents: Vec::new(),
            settings: Vec::new(),
            searched: Vec::new(),
            faults: Vec::new(),
            seen: BTreeSet::new(),
            dot_env: BTreeMap::new(),
            switched_on: env_servers::is_switched_on(env.get("AGENT_ENABLE_MCP")),
            held_settings: None,
            hub: false,
        }
    }

    pub(super) fn knows(&self, user: &UserId) -> bool {
        self.users.contains(user)
    }

    /// Every layer, in order.
    pub(super) fn everything(&mut self, hosts: &BTreeSet<String>) {
        self.own();
        self.dot_env = {
            let (values, faults) = project::dot_env(self.env, &self.limits);
            self.faults.extend(faults);
            values
        };
        self.project();
        self.hosts(hosts);
        self.variables();
    }

    /// Other programs' files; used when the request or the settings name the program, listed otherwise.
    fn hosts(&mut self, asked: &BTreeSet<String>) {
        for (dialect, file, used) in self.host_places(asked) {
            self.file(Layer::Host(dialect.id), used, &file, Some(dialect));
        }
    }

    /// Other programs' files that were asked for, and no others.
    pub(super) fn asked_hosts(&mut self, asked: &BTreeSet<String>) {
        for (dialect, file, _) in self.host_places(asked).into_iter().filter(|(.., used)| *used) {
            self.file(Layer::Host(dialect.id), true, &file, Some(dialect));
        }
    }

    fn host_places(&self, asked: &BTreeSet<String>) -> Vec<(&'static Dialect, PathBuf, bool)> {
        let mut wanted = asked.clone();
        wanted.extend(
            self.settings.iter().flat_map(|(_, settings)| &settings.hosts).map(|host| host.value.clone()),
        );
        let used = |dialect: &Dialect| wanted.contains(dialect.id) || wanted.contains("all");
        let places = host_files(self.env).into_iter();
        places.filter_map(|place| Some((place.dialect?, place.file, used(place.dialect?)))).collect()
    }

    /// Kitbag's own folder.
    fn own(&mut self) {
        self.settings(&self.folders.settings(), Layer::Shared);
        let dialect = Dialect::by_id("kitbag");
        self.file(Layer::Shared, true, &self.folders.registry(), dialect);
        self.folder(&self.folders.servers(), Layer::Shared);
    }

    /// A file or folder that was named: nothing else is searched.
    pub(super) fn named(&mut self, path: &Path) -> Result<(), SetupError> {
        if path.is_dir() {
            self.settings(&path.join("kitbag.toml"), Layer::Flags);
            self.folder(path, Layer::Flags);
            self.folder(&path.join("servers"), Layer::Flags);
        } else if !path.exists() {
            return Err(SetupError::NoSuchFile(path.to_owned()));
        } else if path.file_name() == Some("kitbag.toml".as_ref()) {
            self.settings(path, Layer::Flags);
        } else {
            self.file(Layer::Flags, true, path, None);
        }
        Ok(())
    }

    /// The working folder's files.
    fn project(&mut self) {
        let file = self.env.cwd().join("kitbag.toml");
        if !self.is_ours(&file) {
            self.project_settings(&file);
        }
        let real = |file: &Path| file.canonicalize().ok();
        let hosts: Vec<PathBuf> =
            host_files(self.env).into_iter().filter_map(|host| real(&host.file)).collect();
        for place in project_files(self.env) {
            // In the home folder a program's own file would show a second time, as if it were a project's.
            let own =
                real(&place.file).is_some_and(|file| hosts.contains(&file)) || self.is_ours(&place.file);
            if !own {
                self.file(Layer::Project, true, &place.file, place.dialect);
            }
        }
    }

    fn is_ours(&self, file: &Path) -> bool {
        file.starts_with(&self.folders.config)
    }

    /// A folder's settings count as a whole or not at all.
    fn project_settings(&mut self, file: &Path) {
        let text = match text_of(file, &self.limits) {
            Ok(Some(text)) => text,
            Ok(None) => return self.searched(Layer::Project, file, false),
            Err(fault) => {
                self.faults.push(*fault);
                return self.searched(Layer::Project, file, true);
            }
        };
        let approval = project::settings_approval(file, &text);
        if self.trust.holds(&approval) {
            return self.settings(file, Layer::Project);
        }
        self.searched(Layer::Project, file, true);
        let fault =
            Fault::note(FaultKind::Untrusted, "this folder's settings are not used until you approve them");
        self.faults
            .push(fault.hint("look at the file, then run `kitbag trust kitbag.toml`").at(Place::file(file)));
        self.held_settings = Some(approval);
    }

    /// Settings, and the files and folder they name.
    fn settings(&mut self, file: &Path, layer: Layer) {
        let text = match text_of(file, &self.limits) {
            Ok(text) => text,
            Err(fault) => {
                self.faults.push(*fault);
                None
            }
        };
        self.searched(layer.clone(), file, text.is_some());
        let Some(text) = text else { return };
        let (settings, faults) = settings::read(file, &text, &self.limits);
        self.faults.extend(faults);
        self.limits = settings.limits.clone();
        self.users.extend(settings.users.iter().cloned());
        let base = file.parent().unwrap_or(Path::new(".")).to_owned();
        for named in &settings.files {
            let path = self.env.path(&named.value, &base);
            if path.is_dir() {
                self.folder(&path, layer.clone());
            } else if !self.file(layer.clone(), true, &path, None) {
                let fault = Fault::error(FaultKind::Unreadable, format!("{} does not exist", path.display()));
                self.faults.push(
                    fault.hint("mend the path, or remove it from [sources] files").at(named.place.clone()),
                );
            }
        }
        if let Some(folder) = &settings.servers_dir {
            let path = self.env.path(&folder.value, &base);
            if !path.is_dir() {
                let fault =
                    Fault::error(FaultKind::Unreadable, format!("{} is not a folder", path.display()));
                self.faults.push(fault.hint("mend the path, or remove servers_dir").at(folder.place.clone()));
            }
            self.folder(&path, layer.clone());
        }
        self.settings.push((file.to_owned(), settings));
    }

    /// A folder of servers: its files for everybody, and the user's own folder in it.
    fn folder(&mut self, folder: &Path, layer: Layer) {
        self.searched(layer.clone(), folder, folder.is_dir());
        let (documents, faults) = read_folder(folder, Folder::Shared, None, &self.limits);
        self.faults.extend(faults);
        self.take(documents, &layer);
        for (user, theirs) in user_folders(folder) {
            if user == self.user {
                let (documents, faults) = read_folder(&theirs, Folder::User, None, &self.limits);
                self.faults.extend(faults);
                let layer = match &layer {
                    // A project's folder cannot speak for a user; what it holds needs approval like the rest.
                    // In a named folder the user's files come after everybody's, and so win.
                    Layer::Project | Layer::Flags => layer.clone(),
                    _ => Layer::User(user.clone()),
                };
                self.take(documents, &layer);
            }
            self.users.insert(user);
        }
    }

    fn take(&mut self, documents: Vec<Document>, layer: &Layer) {
        for document in documents {
            if self.seen.insert(document.file.to_path_buf()) {
                self.documents.push(Layered { layer: layer.clone(), used: true, document });
            }
        }
    }

    /// One file; whether it is there.
    fn file(&mut self, layer: Layer, used: bool, file: &Path, dialect: Option<&'static Dialect>) -> bool {
        let document = read_file(file, dialect, self.env.cwd(), &self.limits);
        self.searched(layer.clone(), file, document.is_some());
        let found = document.is_some();
        if let Some(document) = document.filter(|_| self.seen.insert(file.to_owned())) {
            self.documents.push(Layered { layer, used, document });
        }
        found
    }

    /// `MCP_URL` and `MCP_HUB_URL`; the hub replaces all files. Token and headers are meant for one server:
    /// with both addresses set they go with `MCP_URL`.
    fn variables(&mut self) {
        let (token, headers) = (self.env.get("MCP_TOKEN"), self.env.get("MCP_HEADERS"));
        let url = self.env.filled("MCP_URL");
        if let Some(hub) = self.env.filled("MCP_HUB_URL") {
            self.documents.clear();
            self.hub = true;
            let alone = |value: Option<&'a str>| value.filter(|_| url.is_none());
            self.variable(Layer::Env, of_variable("MCP_HUB_URL", hub, alone(token), alone(headers)));
        }
        if let Some(url) = url {
            self.variable(Layer::Env, of_variable("MCP_URL", url, token, headers));
        } else if self.env.get("MCP_URL").is_none() && !self.hub {
            // A file of the working folder says so: it is that folder's server, and waits for approval.
            let given = |name: &str| self.dot_env.get(name).map(String::as_str);
            let file: Arc<Path> = Arc::from(self.env.cwd().join(".env").as_path());
            let url = given("MCP_URL").unwrap_or_default();
            let document = of_variable("MCP_URL", url, given("MCP_TOKEN"), given("MCP_HEADERS"));
            self.variable(Layer::Project, document.map(|document| moved(document, &file)));
        }
    }

    fn variable(&mut self, layer: Layer, document: Option<Document>) {
        self.documents.extend(document.map(|document| Layered { layer, used: true, document }));
    }

    fn searched(&mut self, layer: Layer, file: &Path, exists: bool) {
        self.searched.push(Searched { layer, file: file.to_owned(), exists });
    }

    /// Only the servers a program described itself. Of one name the last counts.
    pub(super) fn described(self, folders: Folders, secrets: Secrets, request: &Request) -> Setup {
        let mut rows: BTreeMap<String, Server> = BTreeMap::new();
        for spec in &request.specs {
            let row = Server {
                name: spec.name.to_string(),
                layer: Layer::Flags,
                state: if spec.enabled { State::Used } else { State::Disabled },
                origin: spec.origin.clone(),
                also: Vec::new(),
                spec: Some(spec.clone()),
                faults: Vec::new(),
            };
            rows.insert(row.name.clone(), row);
        }
        let mut setup = self.finish(folders, secrets, request.clone());
        setup.merged = Merged { servers: rows.into_values().collect(), faults: Vec::new() };
        setup
    }

    /// Merges everything and applies the settings.
    pub(super) fn finish(self, folders: Folders, secrets: Secrets, request: Request) -> Setup {
        let (env, dot_env, trust) = (self.env, self.dot_env, self.trust);
        let is_approved = |spec: &ServerSpec| trust.holds(&project::approval(spec, env, &dot_env));
        let mut merged = merge(self.documents, &is_approved);
        merged.faults.splice(0..0, self.faults);
        if trust.is_damaged() {
            let fault = Fault::warning(
                FaultKind::Syntax,
                "the file of approvals is damaged; nothing counts as approved",
            );
            merged.faults.push(fault.hint("approve again with `kitbag trust`").at(Place::file(trust.file())));
        }
        for (file, settings) in &self.settings {
            let faults = override_servers(&mut merged, file, settings);
            // What a file says about servers of other files is idle, not wrong, while a hub replaces them.
            merged.faults.extend(faults.into_iter().filter(|_| !self.hub));
        }
        Setup {
            folders,
            user: self.user,
            merged,
            settings: self.settings,
            searched: self.searched,
            switched_on: self.switched_on,
            limits: self.limits,
            catalog: Vec::new(),
            env: env.clone(),
            dot_env,
            secrets,
            trust: trust.clone(),
            held_settings: self.held_settings,
            request,
        }
    }
}

/// What `[servers.x]` says about the servers that count.
fn override_servers(merged: &mut Merged, file: &Path, settings: &settings::Settings) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, over) in &settings.servers {
        let counts = |row: &Server| row.name == *name && matches!(row.state, State::Used | State::Disabled);
        let counting = merged.servers.iter().position(counts);
        let defined = merged.servers.iter().any(|row| row.name == *name);
        match counting.and_then(|index| merged.servers.get_mut(index)) {
            Some(Server { spec: Some(spec), state, .. }) => {
                spec.apply(&over.value);
                *state = if spec.enabled { State::Used } else { State::Disabled };
                spec.places.insert("settings", over.place.clone());
            }
            _ if defined => {}
            _ => {
                let near =
                    nearest(name, merged.servers.iter().map(|row| row.name.as_str())).map(str::to_owned);
                let fault = Fault::warning(
                    FaultKind::LooseToggle,
                    format!("[servers.{name}] speaks of a server that no file defines"),
                );
                let hint = near.map_or_else(
                    || format!("remove it from {}, or add the server", file.display()),
                    |near| format!("did you mean {near:?}?"),
                );
                faults.push(fault.hint(hint).at(over.place.clone()));
            }
        }
    }
    faults
}

/// A document with the one server a variable gives.
fn of_variable(variable: &str, url: &str, token: Option<&str>, headers: Option<&str>) -> Option<Document> {
    let (spec, faults) = env_servers::server(variable, url, token, headers);
    let spec = spec?;
    let place = spec.origin.place.clone();
    let loaded = Loaded { name: spec.name.to_string(), place: place.clone(), spec: Some(spec), faults };
    Some(Document {
        file: place.file,
        dialect: Dialect::by_id("env")?,
        servers: vec![loaded],
        toggles: Vec::new(),
        faults: Vec::new(),
    })
}

/// The same document as if it stood in a file.
fn moved(mut document: Document, file: &Arc<Path>) -> Document {
    document.file = file.clone();
    for loaded in &mut document.servers {
        loaded.place.file = file.clone();
        if let Some(spec) = &mut loaded.spec {
            spec.origin.place.file = file.clone();
        }
    }
    document
}
