//! PostgreSQL: the suite, and what happens when it is away.

use kitbag::store::{AuditQuery, AuditScope, AuditWriter, StoreError};

use crate::rows::{ask, row};
use crate::stores::{Place, at, user};
use crate::suite::run;

mod server;

pub(crate) use server::Server;

#[tokio::test]
async fn t21_t34_t42_t44_postgres_keeps_its_promises() {
    let server = Server::start().await;
    run(|| server.place().open()).await;
}

/// Several replicas begin with one empty database.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_that_start_at_once_create_the_tables_once() {
    let server = Server::start().await;
    let place = server.place();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let store = place.open();
        tasks.spawn(async move { store.ask(&ask("ada")).await.is_ok() });
    }
    let asked = testkit::in_time(tasks.join_all()).await.into_iter().filter(|ok| *ok).count();
    // As many as `approvals` allows; two that count at once may both find room for the last.
    assert!((5..=6).contains(&asked), "{asked}");
    assert_eq!(place.open().pending(&user("ada"), at(1)).await.unwrap().len(), asked);
}

#[tokio::test]
async fn a_server_that_is_away_is_named_without_its_password() {
    let mut nobody_listens = Place::with_url("postgres://ada:hunter2@127.0.0.1:1/things?sslmode=disable");
    nobody_listens.limits = nobody_listens.limits.faster(10);
    let refused = nobody_listens.open().tokens(&user("ada")).await.unwrap_err();
    let StoreError::Unavailable { what, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(what, "PostgreSQL database \"things\" at 127.0.0.1:1");
    assert!(refused.is_passing());

    let server = Server::start().await;
    let place = Place::with_url(&server.url("missing").replace("kitbag@", "kitbag:hunter2@"));
    let missing = place.open().tokens(&user("ada")).await.unwrap_err();
    assert!(missing.to_string().contains("\"missing\" does not exist"), "{missing}");
    for error in [refused, missing] {
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

/// The same store works again once the server is back, and no row of the audit log is lost meanwhile.
#[tokio::test]
async fn t44_rows_wait_while_postgres_is_away() {
    let mut server = Server::start().await;
    let mut place = server.place();
    place.limits = place.limits.faster(20);
    let store = place.open();
    let writer = AuditWriter::start(store.clone(), &place.limits).unwrap();
    writer.record(row("ada", 1));
    writer.flush(testkit::PATIENCE).await.unwrap();
    server.stop();
    writer.record(row("ada", 2));
    let unwritten = writer.flush(place.limits.audit_flush).await.unwrap_err();
    assert_eq!(unwritten.rows, 1);
    writer.record(row("ada", 3));
    server.run().await;
    writer.flush(testkit::PATIENCE).await.unwrap();
    let rows = store.page(&AuditQuery::newest(AuditScope::All, 9)).await.unwrap();
    assert_eq!(rows.iter().map(|entry| entry.row.at).collect::<Vec<_>>(), [at(3), at(2), at(1)]);
}

/// `store_wait`: one that takes connections and says nothing; `store_query`: one that does not come to an end.
#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ada@{}/things", silent.local_addr().unwrap());
    let mut place = Place::with_url(&url);
    place.limits = place.limits.faster(20);
    let error = testkit::in_time(place.open().tokens(&user("ada"))).await.unwrap_err();
    assert!(error.to_string().contains("no connection within 250ms"), "{error}");

    let server = Server::start().await;
    let mut place = server.place();
    place.limits.store_wait = 10 * testkit::PATIENCE;
    place.limits.store_query /= 20;
    let store = place.open();
    store.tokens(&user("ada")).await.unwrap();
    let mut raw = place.raw().await;
    sqlx::raw_sql("BEGIN; LOCK TABLE tokens").execute(&mut raw).await.unwrap();
    let error = testkit::in_time(store.tokens(&user("ada"))).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    sqlx::raw_sql("COMMIT").execute(&mut raw).await.unwrap();
    store.tokens(&user("ada")).await.unwrap();
}
