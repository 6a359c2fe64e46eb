//! Approvals: asked once, answered once.

use std::sync::Arc;

use kitbag::store::{
    AnswerError, ApprovalAnswer, ApprovalAsk, ApprovalState, Hash256, PendingApproval, Store, StoreError,
};

use crate::rows::ask;
use crate::stores::{at, user};

pub(crate) async fn an_approval_is_asked_and_answered(store: Arc<dyn Store>) {
    let ada = user("ada");
    let later = ApprovalAsk { created: at(10), ..ask("ada") };
    let second = store.ask(&later).await.unwrap();
    let first = store.ask(&ask("ada")).await.unwrap();
    assert_ne!(first, second);
    let pending = store.pending(&ada, at(11)).await.unwrap();
    let expected = [(&first, ask("ada")), (&second, later)];
    let expected = expected.map(|(id, ask)| PendingApproval { id: id.clone(), ask });
    assert_eq!(pending, expected);
    assert_eq!(store.answer_of(&ada, &first, at(11)).await.unwrap(), Some(ApprovalState::Pending));
    store.answer(&ada, &first, ApprovalAnswer::Session, at(12)).await.unwrap();
    let answered = ApprovalState::Answered { answer: ApprovalAnswer::Session, at: at(12) };
    assert_eq!(store.answer_of(&ada, &first, at(9999)).await.unwrap(), Some(answered));
    assert_eq!(store.pending(&ada, at(13)).await.unwrap().len(), 1);
    assert!(store.grants(&ada).await.unwrap().is_empty());
}

pub(crate) async fn what_is_over_takes_no_answer(store: Arc<dyn Store>) {
    let ada = user("ada");
    let yes = ApprovalAnswer::Always;
    let unknown = kitbag::store::ApprovalId::new("nothing");
    assert_eq!(store.answer(&ada, &unknown, yes, at(1)).await, Err(AnswerError::Unknown));
    assert_eq!(store.withdraw(&ada, &unknown).await.unwrap(), None);

    let id = store.ask(&ask("ada")).await.unwrap();
    store.answer(&ada, &id, ApprovalAnswer::No, at(1)).await.unwrap();
    let again = store.answer(&ada, &id, yes, at(2)).await;
    assert_eq!(again, Err(AnswerError::AlreadyAnswered(ApprovalAnswer::No)));
    let state = store.withdraw(&ada, &id).await.unwrap();
    assert_eq!(state, Some(ApprovalState::Answered { answer: ApprovalAnswer::No, at: at(1) }));

    let id = store.ask(&ask("ada")).await.unwrap();
    assert_eq!(store.withdraw(&ada, &id).await.unwrap(), Some(ApprovalState::Withdrawn));
    assert_eq!(store.answer(&ada, &id, yes, at(1)).await, Err(AnswerError::Withdrawn));

    // Who looks at the moment of expiry decides for everybody, also for those whose clock is behind.
    let id = store.ask(&ask("ada")).await.unwrap();
    assert_eq!(store.answer_of(&ada, &id, at(999)).await.unwrap(), Some(ApprovalState::Pending));
    assert!(store.pending(&ada, at(1000)).await.unwrap().is_empty());
    assert_eq!(store.answer_of(&ada, &id, at(1000)).await.unwrap(), Some(ApprovalState::Expired));
    assert_eq!(store.answer(&ada, &id, yes, at(500)).await, Err(AnswerError::Expired));

    let id = store.ask(&ask("ada")).await.unwrap();
    assert_eq!(store.answer(&ada, &id, yes, at(1000)).await, Err(AnswerError::Expired));
    assert_eq!(store.withdraw(&ada, &id).await.unwrap(), Some(ApprovalState::Expired));
    assert!(store.grants(&ada).await.unwrap().is_empty());
}

pub(crate) async fn always_becomes_a_grant(store: Arc<dyn Store>) {
    let ada = user("ada");
    for (definition, when) in [("v1", 1), ("v2", 2), ("v1", 3)] {
        let asked = ApprovalAsk { definition: Hash256::of(definition), ..ask("ada") };
        let id = store.ask(&asked).await.unwrap();
        store.answer(&ada, &id, ApprovalAnswer::Always, at(when)).await.unwrap();
    }
    let grants = store.grants(&ada).await.unwrap();
    let mut found: Vec<_> = grants.iter().map(|grant| (grant.definition, grant.at)).collect();
    found.sort_by_key(|(_, at)| *at);
    assert_eq!(found, [(Hash256::of("v2"), at(2)), (Hash256::of("v1"), at(3))]);
    assert!(store.revoke_grant(&grants[0]).await.unwrap());
    assert!(!store.revoke_grant(&grants[0]).await.unwrap());
    assert_eq!(store.grants(&ada).await.unwrap(), grants[1..]);
}

pub(crate) async fn pending_approvals_are_bounded_and_swept(store: Arc<dyn Store>) {
    for _ in 0..5 {
        store.ask(&ask("ada")).await.unwrap();
    }
    let sixth = store.ask(&ask("ada")).await;
    assert!(matches!(sixth, Err(StoreError::TooMany { most: 5, .. })), "{sixth:?}");
    store.ask(&ask("ben")).await.unwrap();
    // Those whose time is over do not count.
    let late = ApprovalAsk { created: at(1000), expires: at(2000), ..ask("ada") };
    store.ask(&late).await.unwrap();
    assert_eq!(store.sweep_approvals(at(1001)).await.unwrap(), 6);
    assert_eq!(store.pending(&user("ada"), at(1001)).await.unwrap().len(), 1);
}

/// Eight who answer, one whose time is over, one who gives up: one of them decides, and all agree who it was.
pub(crate) async fn of_many_answers_one_counts(store: Arc<dyn Store>) {
    let ada = user("ada");
    for _ in 0..10 {
        let id = store.ask(&ask("ada")).await.unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..8 {
            let (store, ada, id) = (store.clone(), ada.clone(), id.clone());
            let answer = ApprovalAnswer::ALL[n % 4];
            tasks.spawn(async move { store.answer(&ada, &id, answer, at(n as u64)).await.is_ok() });
        }
        let (one, two) = ((store.clone(), ada.clone(), id.clone()), (store.clone(), ada.clone(), id.clone()));
        tasks.spawn(async move {
            one.0.withdraw(&one.1, &one.2).await.unwrap() == Some(ApprovalState::Withdrawn)
        });
        tasks.spawn(async move {
            two.0.answer_of(&two.1, &two.2, at(1000)).await.unwrap() == Some(ApprovalState::Expired)
        });
        let winners = testkit::in_time(tasks.join_all()).await.into_iter().filter(|won| *won).count();
        assert_eq!(winners, 1);
        // What was asked is forgotten with its end, whatever the end was.
        assert!(store.pending(&ada, at(0)).await.unwrap().is_empty());
    }
}
