//! Addresses that begin with https, as the binary trusts them.

use serde_json::json;
use testkit::tls::{Authority, Front};

use super::Hosted;
use crate::house::Runs as _;

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
