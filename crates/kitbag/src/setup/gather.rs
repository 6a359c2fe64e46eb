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
    held_settings: Option<HeldSettings>,
    pub(super) files: Files<'a>,
    env_files: EnvFiles,
    pub(super) secrets: Secrets,
    pub(super) is_trust_damaged: bool,
    /// Files of one server that cannot be read, and never could.
    lost: Vec<PathBuf>,
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
            files: Files::new(None),
            env_files: EnvFiles::default(),
            secrets: Secrets::default(),
            is_trust_damaged: false,
            lost: Vec::new(),
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

    /// A folder's settings count as a whole or not at all. Read once: what was hashed is what is used or shown.
    fn project_settings(&mut self, file: &Path) {
        let text = match text_of(file, &self.limits) {
            Ok(Some(text)) => text,
            Ok(None) => return self.searched(Layer::Project, file, false),
            Err(fault) => {
                // Nobody approved what cannot be read, so it decides nothing.
                self.faults.push(calm(*fault));
                return self.searched(Layer::Project, file, true);
            }
        };
        let approval = project::settings_approval(file, &text);
        if self.trust.holds(&approval) {
            return self.settings_of(file, Layer::Project, &text);
        }
        self.searched(Layer::Project, file, true);
        let fault =
            Fault::note(FaultKind::Untrusted, "this folder's settings are not used until you approve them");
        self.faults
            .push(fault.hint("look at the file, then run `kitbag trust kitbag.toml`").at(Place::file(file)));
        self.held_settings = Some(HeldSettings { approval, text });
    }

    /// Settings, and the files and folder they name.
    fn settings(&mut self, file: &Path, layer: Layer) {
        match text_of(file, &self.limits) {
            Ok(Some(text)) => self.settings_of(file, layer, &text),
            Ok(None) => self.searched(layer, file, false),
            Err(fault) => {
                self.searched(layer.clone(), file, true);
                let before = self.files.earlier_settings(file, &self.limits);
                let settings = before.unwrap_or_else(|| settings::Settings::unread(&fault, &self.limits));
                self.faults.push(*fault);
                self.take_settings(file, layer, settings);
            }
        }
    }

    fn settings_of(&mut self, file: &Path, layer: Layer, text: &str) {
        self.searched(layer.clone(), file, true);
        let (settings, faults) = self.files.settings(file, text, &self.limits);
        self.faults.extend(faults);
        self.take_settings(file, layer, settings);
    }

    fn take_settings(&mut self, file: &Path, layer: Layer, settings: settings::Settings) {
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
        self.files_of(folder, Folder::Shared, &layer, None);
        for (user, theirs) in user_folders(folder) {
            if user == self.user {
                self.searched(layer.clone(), &theirs, true);
                let (layer, owner) = match &layer {
                    // A project's folder cannot speak for a user; what it holds needs approval like the rest.
                    Layer::Project => (layer.clone(), None),
                    // In a named folder the user's files come after everybody's, and so win.
                    Layer::Flags => (layer.clone(), Some(user.clone())),
                    _ => (Layer::User(user.clone()), Some(user.clone())),
                };
                self.files_of(&theirs, Folder::User, &layer, owner);
            }
            self.users.insert(user);
        }
    }

    fn files_of(&mut self, folder: &Path, kind: Folder, layer: &Layer, user: Option<UserId>) {
        let (files, faults) = self.files.of_folder(folder, kind, &self.limits);
        self.faults.extend(faults);
        for file in files {
            let document = self.files.document(&file, None, folder, &self.limits);
            if *layer != Layer::Project && self.files.lost.contains(&file) {
                self.lost.push(file.clone());
            }
            if let Some(document) = document.filter(|document| self.seen.insert(document.file.to_path_buf()))
            {
                let (layer, user) = (layer.clone(), user.clone());
                self.documents.push(Layered { layer, used: true, user, document });
            }
        }
    }

    /// One file; whether it is there.
    fn file(&mut self, layer: Layer, used: bool, file: &Path, dialect: Option<&'static Dialect>) -> bool {
        let document = self.files.document(file, dialect, self.env.cwd(), &self.limits);
        self.searched(layer.clone(), file, document.is_some());
        let found = document.is_some();
        if let Some(document) = document.filter(|_| self.seen.insert(file.to_owned())) {
            self.documents.push(Layered { layer, used, user: None, document });
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
        self.documents.extend(document.map(|document| Layered { layer, used: true, user: None, document }));
    }

    fn searched(&mut self, layer: Layer, file: &Path, exists: bool) {
        self.searched.push(Searched { layer, file: file.to_owned(), exists });
    }

    /// Only the servers a program described itself. Of one name the last counts.
    pub(super) fn described(mut self, request: &Request) -> Setup {
        let mut rows: BTreeMap<String, Server> = BTreeMap::new();
        for spec in request.specs.iter().flatten() {
            self.read_env_file(spec, &Layer::Flags);
            let row = Server {
                name: spec.name.to_string(),
                layer: Layer::Flags,
                user: None,
                state: if spec.enabled { State::Used } else { State::Disabled },
                origin: spec.origin.clone(),
                also: Vec::new(),
                spec: Some(spec.clone()),
                faults: Vec::new(),
            };
            rows.insert(row.name.clone(), row);
        }
        let mut setup = self.finish(request.clone());
        setup.merged = Merged { servers: rows.into_values().collect(), faults: Vec::new() };
        setup
    }

    /// Reads the file of variables a server names.
    fn read_env_file(&mut self, spec: &ServerSpec, layer: &Layer) {
        let mut env_files = std::mem::take(&mut self.env_files);
        self.with_values(spec, layer, |values| env_files.read(spec, values, &self.limits));
        self.env_files = env_files;
    }

    fn with_values<T>(&self, spec: &ServerSpec, layer: &Layer, work: impl FnOnce(&Values<'_>) -> T) -> T {
        let none = BTreeMap::new();
        let dot_env = if *layer == Layer::Project { &self.dot_env } else { &none };
        let inputs = |id: &str| self.secrets.get(&self.user, spec, id);
        let file = &spec.origin.place.file;
        work(&Values { env: self.env, dot_env, inputs: &inputs, file, env_files: &self.env_files })
    }

    /// Merges everything and applies the settings.
    pub(super) fn finish(mut self, request: Request) -> Setup {
        let documents = std::mem::take(&mut self.documents);
        for layered in documents.iter().filter(|layered| layered.used) {
            for spec in layered.document.servers.iter().filter_map(|loaded| loaded.spec.as_ref()) {
                self.read_env_file(spec, &layered.layer);
            }
        }
        let is_approved = |spec: &ServerSpec| {
            self.with_values(spec, &Layer::Project, |values| {
                self.trust.holds(&project::approval(spec, values))
            })
        };
        let mut merged = merge(documents, &is_approved);
        let (env, trust) = (self.env, self.trust);
        merged.faults.splice(0..0, self.faults);
        if self.is_trust_damaged {
            let fault = Fault::warning(
                FaultKind::Syntax,
                "the file of approvals cannot be read; what is not known to be approved is held",
            );
            merged.faults.push(fault.hint("approve again with `kitbag trust`").at(Place::file(trust.file())));
        }
        close_lost(&mut merged, &self.lost);
        for (file, settings) in &self.settings {
            let faults = override_servers(&mut merged, file, settings);
            // What a file says about servers of other files is idle, not wrong, while a hub replaces them.
            merged.faults.extend(faults.into_iter().filter(|_| !self.hub));
        }
        Setup {
            folders: self.folders.clone(),
            user: self.user,
            merged,
            settings: self.settings,
            searched: self.searched,
            switched_on: self.switched_on,
            limits: self.limits,
            catalog: Vec::new(),
            env: env.clone(),
            dot_env: self.dot_env,
            env_files: self.env_files,
            secrets: self.secrets,
            trust: trust.clone(),
            held_settings: self.held_settings,
            request,
            texts: self.files.texts,
        }
    }
}

/// A file that is named after a server and cannot be read may have switched it off, or said who may have it: the
/// server of that name offers nothing until it can be.
fn close_lost(merged: &mut Merged, lost: &[PathBuf]) {
    for file in lost {
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        for row in merged.servers.iter_mut().filter(|row| Some(row.name.as_str()) == stem) {
            let reason = format!("what {} says about it cannot be read", file.display());
            if let Some(spec) = &mut row.spec {
                Arc::make_mut(spec).rules.closed.get_or_insert(reason);
            }
        }
    }
}

/// What `[servers.x]` says about the servers that count.
fn override_servers(merged: &mut Merged, file: &Path, settings: &settings::Settings) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(reason) = &settings.all_servers {
        for spec in merged.servers.iter_mut().filter_map(|row| row.spec.as_mut()) {
            Arc::make_mut(spec).rules.closed.get_or_insert_with(|| reason.clone());
        }
    }
    for (name, over) in &settings.servers {
        let counts = |row: &Server| row.name == *name && matches!(row.state, State::Used | State::Disabled);
        let counting = merged.servers.iter().position(counts);
        let defined = merged.servers.iter().any(|row| row.name == *name);
        match counting.and_then(|index| merged.servers.get_mut(index)) {
            Some(Server { spec: Some(spec), state, .. }) => {
                let spec = Arc::make_mut(spec);
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

/// What is wrong with a file that decides nothing is no more than a warning.
fn calm(mut fault: Fault) -> Fault {
    fault.severity = fault.severity.min(Severity::Warning);
    fault
}
