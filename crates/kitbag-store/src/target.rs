//! Which database a URL means.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag::Limits;
use kitbag::store::{Store, StoreError};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

use crate::database::Database;
use crate::key::KeyFile;
use crate::sql::SqlStore;

/// A database, as far as it is known before it is opened. Not `Debug`: the URL holds a password.
#[derive(Clone)]
pub(crate) enum Target {
    /// A file of SQLite.
    File(PathBuf),
    /// SQLite without a file, for as long as the store lives.
    Memory,
    /// PostgreSQL.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "refused without the feature"))]
    Server { url: Box<Url>, name: String },
}

/// Opens the store that `[store] url` names: `sqlite:` is `kitbag.db` in the state folder, `sqlite:<path>` another file,
/// `sqlite::memory:` none at all, and `postgres://…` a database that several machines may share.
///
/// Nothing is connected or created yet: that happens when something is first read or written. The key that encrypts
/// answers to inputs is `kitbag.key` in the state folder, also for PostgreSQL: machines that share answers share the key.
/// What a PostgreSQL URL leaves out comes from libpq's variables (`PGUSER`, `PGPASSWORD`, …), as for any of its clients.
pub fn open(url: &str, state: &Path, limits: &Limits) -> Result<Arc<dyn Store>, StoreError> {
    let target = Target::parse(url, state)?;
    let database = Database::new(target, limits);
    Ok(Arc::new(SqlStore { database, key: KeyFile::in_folder(state), limits: limits.clone() }))
}

impl Target {
    fn parse(url: &str, state: &Path) -> Result<Self, StoreError> {
        match url.split_once(':') {
            Some(("sqlite", "")) => Ok(Self::File(state.join("kitbag.db"))),
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", path)) => Ok(Self::File(PathBuf::from(path.strip_prefix("//").unwrap_or(path)))),
            Some(("postgres" | "postgresql", _)) => Self::server(url),
            _ => {
                let why = "it begins with neither \"sqlite:\" nor \"postgres://\"";
                Err(StoreError::Url(why.to_owned()))
            }
        }
    }

    #[cfg(not(feature = "postgres"))]
    fn server(_: &str) -> Result<Self, StoreError> {
        let why = "this build has no PostgreSQL; build it with the cargo feature \"postgres\"";
        Err(StoreError::Url(why.to_owned()))
    }

    #[cfg(feature = "postgres")]
    fn server(url: &str) -> Result<Self, StoreError> {
        // The parser's words could quote the password.
        let wrong =
            |_| StoreError::Url("it is not a URL as postgres://user:password@host/database".to_owned());
        let url = Url::parse(url).map_err(wrong)?;
        let query =
            |key: &str| url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned());
        let host =
            query("host").or_else(|| url.host_str().filter(|host| !host.is_empty()).map(str::to_owned));
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let database = query("dbname").unwrap_or_else(|| url.path().trim_start_matches('/').to_owned());
        let name =
            format!("PostgreSQL database {database:?} at {}{port}", host.as_deref().unwrap_or("localhost"));
        Ok(Self::Server { url: Box::new(url), name })
    }

    /// How it is called in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(file) => file.display().to_string(),
            Self::Memory => "SQLite in memory".to_owned(),
            Self::Server { name, .. } => name.clone(),
        }
    }

    /// As the driver wants it.
    pub(crate) fn url(&self) -> Result<String, StoreError> {
        match self {
            Self::Memory => Ok("sqlite::memory:".to_owned()),
            Self::Server { url, .. } => Ok(url.to_string()),
            Self::File(file) => {
                let refused = |why: String| StoreError::Unavailable { what: self.name(), why };
                let whole = std::path::absolute(file).map_err(|error| refused(error.to_string()))?;
                let text = whole.to_str().ok_or_else(|| refused("its path is not in UTF-8".to_owned()))?;
                Ok(format!("sqlite://{}?mode=rw", utf8_percent_encode(text, PATH)))
            }
        }
    }
}

/// What a path may hold that means something else in a URL.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\');
