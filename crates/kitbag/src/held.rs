//! Names that were given, kept with the configuration they belong to: the same files on another machine give the
//! same names. What stands in one user's own files has its names in that user's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kitbag_core::catalog::CatalogNames;
use kitbag_core::names::{NameForm, NameTable, Naming, trim};
use kitbag_core::{Fault, FaultKind, Limits, ServerName, ShownName, SourceLocation, ToolName};

use crate::Setup;
use crate::discover::{Folders, text_within, user_folders};
use crate::registry;

/// Where the names of gateways stand, beside the forms of tools' names.
const GATEWAYS: &str = "gateway";

/// Names by form; each row is server, tool, name. A gateway's row has no tool.
type Rows = BTreeMap<String, Vec<(String, String, String)>>;

/// One name that was given and is kept for its tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldName {
    /// Whose tool.
    pub server: String,
    /// What its server calls it; nothing for the gateway that stands for all of them.
    pub tool: String,
    /// Which form of name: `full`, `short`, `bare` or `gateway`.
    pub form: String,
    /// The name.
    pub name: String,
}

/// The files of names that belong to a configuration.
#[derive(Clone, Debug)]
pub struct NamesFiles {
    folders: Folders,
    shared: PathBuf,
    /// The user's own, when the user has a folder.
    own: Option<PathBuf>,
    /// The most bytes of one.
    most: usize,
}

/// Where the names of a server are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// With everybody's configuration.
    Shared,
    /// In the user's own folder.
    Own,
    /// Nowhere beyond what is written already.
    Nowhere,
}

/// The names held in those files.
#[derive(Clone, Debug, Default)]
pub struct HeldNames {
    shared: Rows,
    own: Rows,
    /// What is wrong with the files.
    pub faults: Vec<Fault>,
}

impl NamesFiles {
    /// None for a configuration that is not kept: named files, code, a catalog. Such a run begins without names.
    pub fn of(setup: &Setup) -> Option<Self> {
        let request = setup.request();
        if !request.configs.is_empty() || request.specs.is_some() || request.catalog.is_some() {
            return None;
        }
        let folders = user_folders(&setup.folders.servers()).into_iter();
        let folder = folders.filter(|(user, _)| *user == setup.user).map(|(_, folder)| folder).next();
        Some(Self {
            shared: setup.folders.config.join("names.json"),
            own: folder.map(|folder| folder.join("names.json")),
            folders: setup.folders.clone(),
            most: setup.limits.names_file,
        })
    }

    /// The same within other limits than those of the setup.
    pub(crate) fn within(self, limits: &Limits) -> Self {
        Self { most: limits.names_file, ..self }
    }

    /// Reads the names. A file that cannot be read holds none, and that is said: it is not written over.
    pub fn load(&self) -> HeldNames {
        let mut faults = Vec::new();
        let mut read = |file: &Path| match read_rows(file, self.most) {
            Ok(rows) => rows,
            Err((kind, why)) => {
                let message = format!("the names given to tools cannot be read: {why}");
                let hint = match kind {
                    FaultKind::TooLarge => "[limits] names_file, or delete the file to give names anew",
                    _ => "restore the file, or delete it to give names anew",
                };
                faults.push(Fault::warning(kind, message).hint(hint).at(SourceLocation::file(file)));
                Rows::new()
            }
        };
        let shared = read(&self.shared);
        let own = self.own.as_deref().map(read).unwrap_or_default();
        HeldNames { shared, own, faults }
    }

    /// Writes names down beside those another process wrote meanwhile; a name once written is not changed. Of one
    /// server's no more are kept than the limits say.
    pub(crate) fn save(&self, names: &CatalogNames, limits: &Limits, place: impl Fn(&ServerName) -> Kept) {
        let Ok(lock) = registry::lock(&self.folders) else { return };
        save(&lock, &self.shared, names, limits, |server| place(server) == Kept::Shared);
        if let Some(own) = &self.own {
            save(&lock, own, names, limits, |server| place(server) == Kept::Own);
        }
    }

    /// Lets names go: every form of the tools it is true of. The names that are free again.
    pub fn free(
        &self,
        is_freed: impl Fn(&HeldName) -> bool,
    ) -> Result<BTreeSet<String>, registry::FileError> {
        let lock = registry::lock(&self.folders)?;
        let mut freed = BTreeSet::new();
        for file in [Some(&self.shared), self.own.as_ref()].into_iter().flatten() {
            if is_too_large(file, self.most) {
                continue;
            }
            let opened = lock.open(file)?;
            let Ok(mut rows) = read_rows(file, self.most) else { continue };
            let meant: BTreeSet<(String, String)> =
                held(&rows).filter(&is_freed).map(|held| (held.server, held.tool)).collect();
            for all in rows.values_mut() {
                all.retain(|(server, tool, name)| {
                    let goes = meant.contains(&(server.clone(), tool.clone()));
                    if goes {
                        freed.insert(name.clone());
                    }
                    !goes
                });
            }
            if !meant.is_empty() {
                opened.write(&text_of(&rows))?;
            }
        }
        Ok(freed)
    }
}

impl HeldNames {
    /// Every name, in order of server and tool.
    pub fn all(&self) -> BTreeSet<HeldName> {
        held(&self.shared).chain(held(&self.own)).collect()
    }

    /// The servers whose names stand in the user's own file.
    pub(crate) fn own_servers(&self) -> BTreeSet<ServerName> {
        held(&self.own).filter_map(|held| ServerName::parse(&held.server).ok()).collect()
    }

    /// As the tables that tools are named by. Where a user's own and everybody's contradict, the user's own stay.
    pub(crate) fn names(&self) -> CatalogNames {
        let rows = |form: &str| {
            let of = |rows: &Rows| rows.get(form).cloned().unwrap_or_default();
            of(&self.own).into_iter().chain(of(&self.shared))
        };
        let table = |form: NameForm| NameTable::from_rows(rows(form.as_str())).0;
        let names = CatalogNames::new(
            table(NameForm::Full),
            table(NameForm::Short),
            table(NameForm::Bare),
            BTreeSet::new(),
        );
        let gateways = rows(GATEWAYS).filter_map(|(server, _, name)| {
            Some((ServerName::parse(&server).ok()?, ShownName::parse(&name).ok()?))
        });
        // The first row of a server counts.
        let mut held = BTreeMap::new();
        for (server, name) in gateways {
            held.entry(server).or_insert(name);
        }
        names.holding(held)
    }
}

fn held(rows: &Rows) -> impl Iterator<Item = HeldName> {
    rows.iter().flat_map(|(form, all)| {
        all.iter().map(|(server, tool, name)| HeldName {
            server: server.clone(),
            tool: tool.clone(),
            form: form.clone(),
            name: name.clone(),
        })
    })
}

fn read_rows(file: &Path, most: usize) -> Result<Rows, (FaultKind, String)> {
    match text_within(file, most) {
        Err(fault) => Err((fault.kind, fault.message)),
        Ok(None) => Ok(Rows::new()),
        Ok(Some(text)) => serde_json::from_str(&text).map_err(|error| (FaultKind::Syntax, error.to_string())),
    }
}

/// Whether a file is not even to be opened.
fn is_too_large(file: &Path, most: usize) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| most as u64 <= meta.len().saturating_sub(1))
}

/// What cannot be read is left alone, and what cannot be written is given anew next time.
fn save(
    lock: &registry::Lock,
    file: &Path,
    names: &CatalogNames,
    limits: &Limits,
    belongs: impl Fn(&ServerName) -> bool,
) {
    if is_too_large(file, limits.names_file) {
        return;
    }
    let Ok(opened) = lock.open(file) else { return };
    let Ok(before) = read_rows(file, limits.names_file) else { return };
    let mut rows = before.clone();
    for form in NameForm::ALL {
        let row = |(server, tool, name): (&ServerName, &ToolName, &ShownName)| {
            (server.to_string(), tool.to_string(), name.to_string())
        };
        let ours = || names.table(form).iter().filter(|(server, ..)| belongs(server));
        let theirs = rows.remove(form.as_str()).unwrap_or_default();
        // What was written first holds; rows that contradict it are left out.
        let (mut table, _) = NameTable::from_rows(theirs.into_iter().chain(ours().map(row)));
        let mut used: BTreeMap<&ServerName, BTreeSet<&ToolName>> = BTreeMap::new();
        for (server, tool, _) in ours() {
            used.entry(server).or_default().insert(tool);
        }
        let naming = Naming::new(form).keeping(limits.names);
        for (server, tools) in used {
            // What nobody here uses goes first.
            trim(&mut table, server, &tools, &naming);
            trim(&mut table, server, &BTreeSet::new(), &naming);
        }
        rows.insert(form.as_str().to_owned(), table.iter().map(row).collect());
    }
    let ours = names.gateways().iter().filter(|(server, _)| belongs(server));
    let mut gateways: BTreeMap<String, String> =
        ours.map(|(server, name)| (server.to_string(), name.to_string())).collect();
    let theirs = rows.remove(GATEWAYS).unwrap_or_default().into_iter();
    gateways.extend(theirs.map(|(server, _, name)| (server, name)));
    let row = |(server, name)| (server, String::new(), name);
    rows.insert(GATEWAYS.to_owned(), gateways.into_iter().map(row).collect());
    rows.retain(|_, all| !all.is_empty());
    if rows == before {
        return;
    }
    let text = text_of(&rows);
    // Nobody could read it.
    if text.len() <= limits.names_file {
        let _ = opened.write(&text);
    }
}

/// One row a line: people keep this file with their configuration, and look at what changed in it.
fn text_of(rows: &Rows) -> String {
    let line = |row: &(String, String, String)| serde_json::to_string(row).unwrap_or_default();
    let form = |(form, all): (&String, &Vec<(String, String, String)>)| {
        let lines: Vec<String> = all.iter().map(|row| format!("\n    {}", line(row))).collect();
        format!("\n  {form:?}: [{}\n  ]", lines.join(","))
    };
    let forms: Vec<String> = rows.iter().map(form).collect();
    format!("{{{}\n}}\n", forms.join(","))
}
