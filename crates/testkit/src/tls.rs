//! TLS for fake servers: certificates of a test's own making, and what takes them off again before a server. Behind the
//! feature `tls`, which fake-mcp does without.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
pub use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::Hosted;

/// Somebody who signs certificates.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one of this name.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A file for `SSL_CERT_FILE`.
    pub fn file(&self, hosted: &Hosted, name: &str) -> String {
        hosted.farm.house.put(name, self.0.pem()).display().to_string()
    }

    /// A server's side of TLS with a certificate for these hosts, good until this year.
    pub fn acceptor(&self, hosts: &[&str], until: i32) -> TlsAcceptor {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &self.0).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        TlsAcceptor::from(Arc::new(config.with_single_cert(vec![leaf.der().clone()], key).unwrap()))
    }
}

/// Takes TLS off and hands the bytes on to a server that speaks plainly, until it is dropped.
#[derive(Debug)]
pub struct Front {
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    _tasks: JoinSet<()>,
}

impl Front {
    /// In front of the server at this address.
    pub async fn before(plain: &str, acceptor: TlsAcceptor) -> Self {
        let to: SocketAddr = plain.trim_start_matches("http://").trim_end_matches("/mcp").parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    // One that does not like the certificate hangs up; that is what is tested.
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut behind = TcpStream::connect(to).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut behind).await;
                });
            }
        });
        Self { port, _tasks: tasks }
    }
}
