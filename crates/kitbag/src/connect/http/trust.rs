//! Whose certificates are good: those the system trusts, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name in its
//! place.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::{CertificateError, ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::Env;

#[cfg(test)]
mod tests;

/// What is named in place of the system's own; nothing, as a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Trust {
    file: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Trust {
    /// By the variables that every program reads for it.
    pub(crate) fn of(env: &Env) -> Self {
        let path = |text: &str| env.path(text, env.cwd());
        let folders = env.filled("SSL_CERT_DIR").map(std::env::split_paths).into_iter().flatten();
        // Nothing between two colons is not the working folder, where anybody's files may lie.
        let folders =
            folders.filter_map(|folder| folder.to_str().filter(|folder| !folder.is_empty()).map(path));
        Self { folders: folders.collect(), file: env.filled("SSL_CERT_FILE").map(path) }
    }

    /// Certificates are checked as the system does, or against what is named.
    pub(crate) fn verifying(&self) -> Result<ClientConfig, String> {
        let unusable = |error: rustls::Error| format!("none can be checked: {error}");
        let builder = builder().map_err(unusable)?;
        Ok(match self.named()? {
            Some(roots) => builder.with_root_certificates(roots).with_no_client_auth(),
            None => builder.with_platform_verifier().map_err(unusable)?.with_no_client_auth(),
        })
    }

    /// The certificates that are named. One file that cannot be read is no harm while another can.
    fn named(&self) -> Result<Option<RootCertStore>, String> {
        if self.file.is_none() && self.folders.is_empty() {
            return Ok(None);
        }
        let mut found = rustls_native_certs::load_certs_from_paths(self.file.as_deref(), None);
        for folder in &self.folders {
            let more = rustls_native_certs::load_certs_from_paths(None, Some(folder));
            found.certs.extend(more.certs);
            found.errors.extend(more.errors);
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
            return Err(format!("SSL_CERT_FILE and SSL_CERT_DIR give none to trust{why}"));
        }
        Ok(Some(roots))
    }
}

/// For connections on which no certificate is shown.
pub(crate) fn trusting_nobody() -> Result<ClientConfig, String> {
    let builder = builder().map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}

/// What is wrong with the certificate that was shown, if an error is about that.
pub(crate) fn distrust(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(why)) = tls(error) {
            return Some(in_words(why));
        }
        next = error.source();
    }
    None
}

/// Whether whoever answered does not speak TLS.
pub(crate) fn is_plain(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_plain = |error| matches!(tls(error), Some(rustls::Error::InvalidMessage(_)));
    std::iter::successors(Some(error), |error| error.source()).any(is_plain)
}

/// The error of TLS that this one is, or that errors of input and output hide: what they hold is not their source.
fn tls<'a>(mut error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    while let Some(held) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        error = held;
    }
    error.downcast_ref()
}

fn in_words(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::UnknownIssuer => "not trusted",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "for another name"
        }
        CertificateError::Revoked => "revoked",
        _ => "not good",
    }
}
