//! Addresses that begin with https: whose certificates are good, and what is said of those that are not.

use std::time::Duration;

use kitbag::{DiscoverOptions, Kitbag, LinkState, Setup};
use serde_json::json;
use testkit::tls::{Authority, Front, TlsAcceptor};

use super::farm::{Opens as _, Use as _};
use super::{Hosted, calm};

/// Starts with what is named in place of the system's certificates.
fn trusting(hosted: &Hosted, variable: &str, path: &str) -> Kitbag {
    let env = hosted.farm.env().with(variable, path);
    let setup = Setup::discover(&DiscoverOptions { env, ..DiscoverOptions::default() }).unwrap();
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
