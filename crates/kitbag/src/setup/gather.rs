//! Collecting documents layer by layer.

use super::overrides::{Lost, close_lost, hold_unpinned, loose_overrides, override_servers};
use super::*;

mod variables;

/// What was read so far.
pub(super) struct Gathered<'a> {
    env: &'a Env,
    folders: &'a Folders,
    trust: &'a TrustStore,
    user: UserId,
    users: BTreeSet<UserId>,
    limits: Limits,
    documents: Vec<Layered>,
    settings: Vec<(PathBuf, settings::Settings)>,
    searched: Vec<Searched>,
    faults: Vec<Fault>,
    seen: BTreeSet<PathBuf>,
    project: ProjectFolders,
    /// The root of the project, under which some programs keep the servers of single folders.
    root: PathBuf,
    switched_on: bool,
    held_settings: Vec<HeldSettings>,
    pub(super) files: Files<'a>,
    env_files: EnvFiles,
    pub(super) secrets: SecretStore,
    pub(super) is_trust_damaged: bool,
    lost: Vec<Lost>,
    /// Whether `MCP_HUB_URL` stands in for all files.
    hub: bool,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(env: &'a Env, folders: &'a Folders, trust: &'a TrustStore, user: UserId) -> Self {
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
            project: ProjectFolders::default(),
            root: project_folders(env).into_iter().next().unwrap_or_else(|| env.cwd().to_owned()),
            switched_on: env_servers::is_switched_on(env.get("AGENT_ENABLE_MCP")),
            held_settings: Vec::new(),
            files: Files::new(None),
            env_files: EnvFiles::default(),
            secrets: SecretStore::default(),
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
        let (folders, faults) = ProjectFolders::read(&mut self.files, self.env, &self.limits);
        self.project = folders;
        self.faults.extend(faults);
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

    /// The project's files.
    fn project(&mut self) {
        for folder in project_folders(self.env) {
            let file = folder.join("kitbag.toml");
            if !self.is_ours(&file) {
                self.project_settings(&file);
            }
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
        let text = match self.files.text(file, &self.limits) {
            Ok(Some(text)) => text,
            Ok(None) => return self.searched(Layer::Project, file, false),
            Err(fault) => {
                // Nobody approved what cannot be read, so it decides nothing.
                self.faults.push(calm(*fault));
                self.searched(Layer::Project, file, true);
                if self.keep_approved(file) {
                    self.faults.push(kept_settings(file));
                }
                return;
            }
        };
        let approval = project::settings_approval(file, &text);
        if self.trust.holds(&approval) {
            return self.settings_of(file, Layer::Project, &text);
        }
        self.searched(Layer::Project, file, true);
        if self.keep_approved(file) {
            let (settings, faults) = settings::read(file, &text, &self.limits);
            self.faults.extend(faults.into_iter().filter(|_| settings.unread).map(calm));
            self.faults.push(kept_settings(file));
        } else {
            self.faults.push(held_settings(file));
        }
        self.held_settings.push(HeldSettings { approval, text });
    }

    /// What was approved stays in force while the file says something that nobody approved: to drop it would lift
    /// its restrictions. Whether there is such a text.
    fn keep_approved(&mut self, file: &Path) -> bool {
        let is_approved = |text: &Arc<str>| self.trust.holds(&project::settings_approval(file, text));
        let Some(text) = self.files.before(file).filter(is_approved) else { return false };
        let (settings, _) = self.files.settings(file, &text, &self.limits);
        self.take_settings(file, Layer::Project, settings);
        true
    }

    /// Settings, and the files and folder they name.
    fn settings(&mut self, file: &Path, layer: Layer) {
        match self.files.text(file, &self.limits) {
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
                    fault.hint("correct the path, or remove it from [sources] files").at(named.place.clone()),
                );
            }
        }
        if let Some(folder) = &settings.servers_dir {
            let path = self.env.path(&folder.value, &base);
            if !path.is_dir() {
                let fault =
                    Fault::error(FaultKind::Unreadable, format!("{} is not a folder", path.display()));
                self.faults
                    .push(fault.hint("correct the path, or remove servers_dir").at(folder.place.clone()));
            }
            self.folder(&path, layer.clone());
        }
        self.settings.push((file.to_owned(), settings));
    }

    /// A folder of servers: its files for everybody, and the user's own folder in it.
    fn folder(&mut self, folder: &Path, layer: Layer) {
        self.searched(layer.clone(), folder, folder.is_dir());
        self.files_of(folder, FolderOwner::Shared, &layer, None);
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
                self.files_of(&theirs, FolderOwner::User, &layer, owner);
            }
            self.users.insert(user);
        }
    }

    fn files_of(&mut self, folder: &Path, kind: FolderOwner, layer: &Layer, user: Option<UserId>) {
        let (files, faults) = self.files.of_folder(folder, kind, &self.limits);
        self.faults.extend(faults);
        for file in files {
            let document = self.files.document(&file, None, folder, &self.limits);
            if *layer != Layer::Project && self.files.lost.last() == Some(&file) {
                self.lost.push(Lost::One(file.clone()));
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
        let document = self.files.document(file, dialect, &self.root, &self.limits);
        self.searched(layer.clone(), file, document.is_some());
        let found = document.is_some();
        // Nobody approved what a project's file says, so it switches nothing off.
        if used && layer != Layer::Project && self.files.lost.last().is_some_and(|lost| lost == file) {
            self.lost.push(Lost::Many(layer.clone(), file.to_owned()));
        }
        if let Some(document) = document.filter(|_| self.seen.insert(file.to_owned())) {
            self.documents.push(Layered { layer, used, user: None, document });
        }
        found
    }

    fn searched(&mut self, layer: Layer, file: &Path, exists: bool) {
        self.files.stamps.note(file);
        self.searched.push(Searched { layer, file: file.to_owned(), exists });
    }

    /// Only the servers a program described itself. Of one name the last counts.
    pub(super) fn described(mut self, request: &DiscoverOptions) -> Setup {
        let mut rows: BTreeMap<String, MergedServer> = BTreeMap::new();
        for spec in request.specs.iter().flatten() {
            self.read_env_file(spec, &Layer::Flags);
            let row = MergedServer {
                name: spec.name.to_string(),
                layer: Layer::Flags,
                user: None,
                state: if spec.enabled { EntryState::Used } else { EntryState::Disabled },
                origin: spec.origin.clone(),
                also: Vec::new(),
                spec: Some(spec.clone()),
                faults: Vec::new(),
            };
            rows.insert(row.name.clone(), row);
        }
        let faults = std::mem::take(&mut self.faults);
        let mut setup = self.finish(request.clone());
        setup.merged = Merged { servers: rows.into_values().collect(), faults };
        setup
    }

    /// Reads the file of variables a server names, unless it was read already.
    fn read_env_file(&mut self, spec: &ServerSpec, layer: &Layer) {
        let file = self.with_values(spec, layer, |values| env_file(spec, values));
        let Some(file) = file.filter(|file| !self.env_files.has(file)) else { return };
        let (text, fault) = self.files.kept_text(&file, &self.limits);
        let is_kept = text.is_some();
        self.env_files.add(file, text, fault.as_ref());
        // Where there is no text the server says why it cannot run.
        self.faults.extend(fault.filter(|_| is_kept));
    }

    fn with_values<T>(
        &self,
        spec: &ServerSpec,
        layer: &Layer,
        work: impl FnOnce(&ReferenceValues<'_>) -> T,
    ) -> T {
        let inputs =
            |id: &str| self.secrets.get(&self.user, spec, id).or_else(|| chosen(spec, id).map(Secret::new));
        let file = &spec.origin.place.file;
        let (workspace, dot_env) = self.project.given_to(file, layer, self.env);
        let env_files = &self.env_files;
        work(&ReferenceValues { env: self.env, workspace, dot_env, inputs: &inputs, file, env_files })
    }

    /// Merges everything and applies the settings.
    pub(super) fn finish(mut self, request: DiscoverOptions) -> Setup {
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
            merged
                .faults
                .push(fault.hint("approve again with `kitbag trust`").at(SourceLocation::file(trust.file())));
        }
        close_lost(&mut merged, &self.lost);
        for (file, settings) in &self.settings {
            override_servers(&mut merged, settings);
            // What a file says about servers of other files is idle, not wrong, while a hub replaces them.
            if !self.hub {
                let faults = loose_overrides(&mut merged, file, settings);
                merged.faults.extend(faults);
            }
        }
        hold_unpinned(&mut merged, &self.settings);
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
            project: self.project,
            env_files: self.env_files,
            secrets: self.secrets,
            trust: trust.clone(),
            held_settings: self.held_settings,
            users: self.users,
            request,
            texts: self.files.texts,
            stamps: self.files.stamps,
        }
    }
}

/// What is said of a folder's settings that nobody approved.
fn held_settings(file: &Path) -> Fault {
    let fault =
        Fault::note(FaultKind::Untrusted, "this folder's settings are not used until you approve them");
    fault.hint("look at the file, then run `kitbag trust kitbag.toml`").at(SourceLocation::file(file))
}

/// The same where others were approved before.
fn kept_settings(file: &Path) -> Fault {
    let fault = Fault::warning(
        FaultKind::Untrusted,
        "this folder's settings changed; those you approved stay in force until you approve the new ones",
    );
    fault.hint("look at the file, then run `kitbag trust kitbag.toml`").at(SourceLocation::file(file))
}

/// What is wrong with a file that decides nothing is no more than a warning.
fn calm(mut fault: Fault) -> Fault {
    fault.severity = fault.severity.min(Severity::Warning);
    fault
}
