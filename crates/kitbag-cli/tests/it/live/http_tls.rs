//! Addresses that begin with https: whose certificates are good, and what is said of those that are not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kitbag::connect::LinkState;
use kitbag::{Kitbag, Request, Setup};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::farm::Use as _;
use super::{Hosted, calm};

/// Somebody who signs certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A file for `SSL_CERT_FILE`.
    fn file(&self, hosted: &Hosted, name: &str) -> String {
        hosted.farm.house.put(name, self.0.pem()).display().to_string()
    }

    /// A server's side of TLS with a certificate for these hosts, good until this year.
    fn acceptor(&self, hosts: &[&str], until: i32) -> TlsAcceptor {
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
struct Front {
    port: u16,
    _tasks: JoinSet<()>,
}

impl Front {
    async fn before(plain: &str, acceptor: TlsAcceptor) -> Self {
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

/// Starts with what is named in place of the system's certificates.
fn trusting(hosted: &Hosted, variable: &str, path: &str) -> Kitbag {
    let env = hosted.farm.env().with(variable, path);
    let setup = Setup::discover(&Request { env, ..Request::default() }).unwrap();
    let mut limits = calm();
    // The second try is not this test's.
    (limits.restart_first, limits.restart_most) = (Duration::from_secs(60), Duration::from_secs(60));
    Kitbag::start(setup, hosted.farm.options(limits))
}

#[tokio::test]
async fn tools_are_listed_and_called_behind_a_certificate_that_is_named() {
    let ours = Authority::new("ours");
    for host in ["127.0.0.1", "localhost"] {
        let hosted = Hosted::new();
        let front =
            Front::before(&hosted.host("x", &[]), ours.acceptor(&["127.0.0.1", "localhost"], 2099)).await;
        hosted.enter("x", &format!("https://{host}:{}/mcp", front.port), &json!({}));
        let file = ours.file(&hosted, "ours/ca.pem");
        let folder = hosted.farm.house.at("ours");
        for (variable, path) in [("SSL_CERT_FILE", &file), ("SSL_CERT_DIR", &folder)] {
            let kit = trusting(&hosted, variable, path);
            kit.reaches("x", LinkState::Ready).await;
            assert!(15 < kit.on("x").tools().tools.len());
            kit.lives("x").await;
            hosted.close(kit).await;
        }
        assert_eq!(hosted.farm.log("x"), "");
    }
}

/// The binary takes the variables of its own environment; the front must go on while it runs.
#[tokio::test]
async fn the_binary_trusts_what_is_named_and_nothing_else() {
    let ours = Authority::new("ours");
    let hosted = Hosted::new();
    let front = Front::before(&hosted.host("x", &[]), ours.acceptor(&["127.0.0.1"], 2099)).await;
    hosted.enter("x", &format!("https://127.0.0.1:{}/mcp", front.port), &json!({}));
    let call = |file: String| {
        let run = hosted.farm.house.ask(&["call", "mcp_x_add", "a=2", "b=3"]).env("SSL_CERT_FILE", &file);
        tokio::task::spawn_blocking(move || run.run())
    };
    let good = call(ours.file(&hosted, "ours.pem")).await.unwrap().exits(0);
    assert_eq!(good.out.trim(), "5", "{good:?}");
    let other = call(Authority::new("theirs").file(&hosted, "theirs.pem")).await.unwrap().exits(4);
    assert!(other.err.contains("certificate: not trusted"), "{other:?}");
}

/// Opens what shows this certificate; the one line of its log.
async fn refused(acceptor: TlsAcceptor, variable: &str, path: impl FnOnce(&Hosted) -> String) -> String {
    let hosted = Hosted::new();
    let front = Front::before(&hosted.host("x", &[]), acceptor).await;
    let url = format!("https://127.0.0.1:{}/mcp", front.port);
    hosted.enter("x", &url, &json!({"headers": {"Authorization": "Bearer canary-token-4f1b"}}));
    let path = path(&hosted);
    let kit = trusting(&hosted, variable, &path);
    let over = |state| matches!(state, LinkState::Failed | LinkState::Reconnecting);
    let ended = super::until(Duration::from_secs(10), || over(kit.on("x").status().state)).await;
    assert!(ended, "{:?}", kit.on("x").status());
    hosted.close(kit).await;
    assert!(hosted.requests("x").is_empty(), "nothing is said to a stranger");
    let log = hosted.farm.log("x");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert_eq!(log.matches(&url).count(), 1, "{log}");
    log
}

#[tokio::test]
async fn a_certificate_that_is_not_good_is_named_with_what_is_wrong() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let here = ["127.0.0.1"];
    for (acceptor, class, root) in [
        (theirs.acceptor(&here, 2099), "not trusted", "UnknownIssuer"),
        (ours.acceptor(&here, 2001), "expired", "certificate expired"),
        (ours.acceptor(&["elsewhere.example"], 2099), "for another name", "127.0.0.1"),
    ] {
        let log = refused(acceptor, "SSL_CERT_FILE", |hosted| ours.file(hosted, "ca.pem")).await;
        assert!(log.starts_with(&format!("ERROR cannot connect: certificate: {class} (")), "{log}");
        assert!(log.contains(root), "{log}");
    }
}

#[tokio::test]
async fn a_file_without_certificates_is_named() {
    let ours = Authority::new("ours");
    let accept = || ours.acceptor(&["127.0.0.1"], 2099);
    let missing = refused(accept(), "SSL_CERT_FILE", |hosted| hosted.farm.house.at("nothing.pem")).await;
    assert!(missing.starts_with("ERROR cannot connect: certificate: SSL_CERT_FILE"), "{missing}");
    assert!(missing.contains("nothing.pem") && missing.contains("No such file"), "{missing}");
    let empty = |hosted: &Hosted| hosted.farm.house.put("empty.pem", "").display().to_string();
    let empty = refused(accept(), "SSL_CERT_FILE", empty).await;
    assert!(empty.contains("SSL_CERT_FILE"), "{empty}");
}
