//! The handle: shared, watched, changed and closed.

use std::sync::Arc;

use futures_util::StreamExt as _;
use kitbag::{Env, ErrorKind, Kitbag, LinkState, OpenOptions, PresentOptions, Provider, Setup};

use super::server::{name, open, says_hi, server};

#[tokio::test]
async fn f31_a_handle_is_shared_and_closed_by_reference() {
    let (spec, _) = server("x", says_hi);
    let kit = Arc::new(open(vec![spec], OpenOptions::default()).await);
    let other = kit.clone();
    kit.close().await;
    assert_eq!(other.call("x/echo", "{}").await.unwrap_err().kind, ErrorKind::Unavailable);
    assert!(format!("{other:?}").contains("is_closed: true"));
}

#[tokio::test]
async fn f31_servers_are_added_replaced_restarted_and_removed_while_it_runs() {
    let kit = open(Vec::new(), OpenOptions::default()).await;
    let (one, heard) = server("x", says_hi);
    let apply = async |specs| kit.apply(Setup::from_specs(Env::default(), specs)).await.unwrap();
    apply(vec![one]).await;
    kit.wait_for_all(std::time::Duration::from_secs(30)).await;
    kit.call("x/echo", "{}").await.unwrap();
    kit.restart(&name("x")).await.unwrap();
    kit.call("x/echo", "{}").await.unwrap();
    let openings = |heard: &super::server::Heard| {
        heard.lock().unwrap().iter().filter(|message| message["method"] == "initialize").count()
    };
    assert_eq!(openings(&heard), 2);
    let (two, replaced) = server("x", says_hi);
    apply(vec![two]).await;
    kit.wait_for_all(std::time::Duration::from_secs(30)).await;
    kit.call("x/echo", "{}").await.unwrap();
    assert_eq!((openings(&heard), openings(&replaced)), (2, 1));
    apply(Vec::new()).await;
    assert_eq!(kit.call("x/echo", "{}").await.unwrap_err().kind, ErrorKind::NotFound);
    kit.close().await;
}

#[tokio::test]
async fn f35_states_and_changes_are_streams() {
    let (spec, _) = server("x", says_hi);
    let kit = Kitbag::start(Setup::from_specs(Env::default(), vec![spec]), OpenOptions::default());
    let (mut statuses, mut changes) = (kit.statuses(), kit.changes());
    let ready = async {
        while let Some(statuses) = statuses.next().await {
            if statuses[0].status.state == LinkState::Ready {
                return statuses[0].name.clone();
            }
        }
        panic!("the stream ended");
    };
    assert_eq!(ready.await, "x");
    let change = changes.next().await.unwrap();
    assert_eq!((change[0].server.as_str(), change[0].tool.as_str()), ("x", "echo"));
    kit.close().await;
    drop(kit);
    assert!(changes.collect::<Vec<_>>().await.len() <= 1, "they end with the handle");
}

#[test]
#[should_panic(expected = "runtime")]
fn f27_starting_outside_of_a_runtime_says_so() {
    let _ = Kitbag::start(Setup::empty(Env::default()), OpenOptions::default());
}

#[tokio::test]
async fn f27_a_hundred_presentations_are_made_once_each() {
    let (spec, _) = server("x", says_hi);
    let kit = open(vec![spec], OpenOptions::default()).await;
    let view = kit.own_view();
    let options = |depth: usize| {
        let mut options = PresentOptions::native(Provider::Generic);
        options.native.limits.depth += depth;
        options
    };
    let first: Vec<_> = (0..100).map(|depth| kit.present(&view, &options(depth))).collect();
    for (depth, first) in first.iter().enumerate() {
        assert!(Arc::ptr_eq(first, &kit.present(&view, &options(depth))), "{depth}");
    }
    kit.close().await;
}
