use kitbag::{Limits, UserId};
use serde_json::value::to_raw_value;

use super::*;
use crate::model::{ModelId, Stop, Usage, Vendor};

fn reply(text: &str, calls: &[&str]) -> ChatItem {
    let call = |(at, name): (usize, &&str)| json!({"id": format!("call_{at}"), "type": "function", "function": {"name": name, "arguments": "{}"}});
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().enumerate().map(call).collect();
    }
    let model = ModelId { vendor: Vendor::OpenAi, name: "m".into() };
    let raw = to_raw_value(&message).unwrap();
    ChatItem::Reply(Reply { model, raw, usage: Usage::default(), stop: Stop::Finished })
}

fn answer(at: usize, text: &str) -> ToolAnswer {
    let blocks = vec![json!({"type": "text", "text": text})];
    ToolAnswer { id: Some(format!("call_{at}")), tool: "t".into(), blocks, is_error: false }
}

fn say(talk: &mut Conversation, item: ChatItem) {
    talk.push(item, &Masks::default()).unwrap();
}

/// Letters for the items: u, r for a reply, c for one with calls, R for results.
fn letters<'a>(items: impl IntoIterator<Item = &'a ChatItem>) -> String {
    let letter = |item: &ChatItem| match item {
        ChatItem::User(_) => 'u',
        ChatItem::Reply(reply) if calls(reply).is_empty() => 'r',
        ChatItem::Reply(_) => 'c',
        ChatItem::Said(_) => 'S',
        ChatItem::Results(_) => 'R',
    };
    items.into_iter().map(letter).collect()
}

/// Of a turn with so many steps of one call each.
fn turn(talk: &mut Conversation, steps: usize) {
    say(talk, ChatItem::User("?".into()));
    for _ in 0..steps {
        say(talk, reply("", &["t"]));
        talk.answer(0, answer(0, "done"), &Masks::default()).unwrap();
    }
    say(talk, reply("!", &[]));
}

#[test]
fn s4_18_the_memory_limit_never_separates_a_call_from_its_result() {
    let mut talk = Conversation::new(1 << 20);
    turn(&mut talk, 1);
    turn(&mut talk, 3);
    assert_eq!(letters(talk.items()), "ucRrucRcRcRr");
    for (most, expected) in [
        (100, "ucRrucRcRcRr"),
        (12, "ucRrucRcRcRr"),
        (11, "ucRcRcRr"),
        (8, "ucRcRcRr"),
        (7, "ucRcRr"),
        (5, "ucRr"),
        (4, "ucRr"),
        (3, "ur"),
        (2, "ur"),
        (0, "ur"),
    ] {
        assert_eq!(letters(talk.window(Memory::Last(most)).into_iter()), expected, "the last {most}");
    }
    // In the middle of a turn the last calls stay with the question.
    let mut talk = Conversation::new(1 << 20);
    say(&mut talk, ChatItem::User("?".into()));
    for _ in 0..3 {
        say(&mut talk, reply("", &["t"]));
        talk.answer(0, answer(0, "done"), &Masks::default()).unwrap();
    }
    assert_eq!(letters(talk.window(Memory::Last(2)).into_iter()), "ucR");
    assert_eq!(letters(talk.window(Memory::Last(5)).into_iter()), "ucRcR");
}

#[test]
fn results_stand_in_the_order_of_the_calls_and_open_calls_are_closed() {
    let mut talk = Conversation::new(1 << 20);
    say(&mut talk, ChatItem::User("?".into()));
    say(&mut talk, reply("", &["a", "b", "c"]));
    talk.answer(2, answer(2, "third"), &Masks::default()).unwrap();
    talk.answer(0, answer(0, "first"), &Masks::default()).unwrap();
    assert_eq!(talk.open_calls().len(), 1);
    say(&mut talk, ChatItem::User("never mind".into()));
    assert_eq!(letters(talk.items()), "ucRu");
    let Some(ChatItem::Results(answers)) = talk.items().nth(2) else { panic!("no results") };
    let ids: Vec<&str> = answers.iter().map(|answer| answer.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["call_0", "call_1", "call_2"]);
    assert!(answers[1].is_error && answers[1].blocks[0].to_string().contains("cancelled"), "{answers:?}");
}

#[test]
fn the_oldest_turns_are_forgotten_first_and_whole() {
    let mut talk = Conversation::new(400);
    for _ in 0..20 {
        turn(&mut talk, 1);
        let all = letters(talk.items());
        assert!(all.starts_with('u') && all.ends_with("ucRr"), "{all}");
    }
    assert!(talk.items().len() < 40);
}

#[test]
fn s4_18_a_kept_conversation_is_found_again_and_clear_really_clears() {
    let folder = tempfile::tempdir().unwrap();
    let all = Conversations::of(&UserId::local(), folder.path(), &Limits::default());
    let mut talk = all.create().unwrap();
    let id = talk.id().clone();
    turn(&mut talk, 2);
    assert!(matches!(all.resume(&id), Err(ConversationError::InUse { .. })), "one writer");
    drop(talk);
    let mut talk = all.resume(&id).unwrap();
    assert_eq!(letters(talk.items()), "ucRcRr");
    talk.clear().unwrap();
    assert_eq!(talk.items().len(), 0);
    say(&mut talk, ChatItem::User("anew".into()));
    drop(talk);
    assert_eq!(letters(all.resume(&id).unwrap().items()), "u");
    let other = Conversations::of(&UserId::parse("eve").unwrap(), folder.path(), &Limits::default());
    assert!(matches!(other.resume(&id), Err(ConversationError::NotFound { .. })), "another user's");
    assert_eq!((all.ids(), other.ids()), (vec![id], vec![]));
}

/// Two whose names differ by case alone, also where case is folded.
#[test]
fn t34_conversations_of_two_users_lie_apart() {
    let folder = tempfile::tempdir().unwrap();
    let of = |user: &str| Conversations::of(&UserId::parse(user).unwrap(), folder.path(), &Limits::default());
    let (ids, others) = (of("ada"), of("Ada"));
    let id = ids.create().unwrap().id().clone();
    assert!(matches!(others.resume(&id), Err(ConversationError::NotFound { .. })));
    others.create().unwrap();
    assert_eq!((ids.ids().len(), others.ids().len()), (1, 1));
    let names = std::fs::read_dir(folder.path().join("conversations")).unwrap();
    let names: std::collections::BTreeSet<String> =
        names.map(|entry| entry.unwrap().file_name().to_string_lossy().to_lowercase()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_line_that_was_cut_off_is_taken_away_and_open_calls_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let all = Conversations::of(&UserId::local(), folder.path(), &Limits::default());
    let mut talk = all.create().unwrap();
    let id = talk.id().clone();
    say(&mut talk, ChatItem::User("?".into()));
    say(&mut talk, reply("", &["a", "b"]));
    talk.answer(1, answer(1, "done"), &Masks::default()).unwrap();
    drop(talk);
    let file = folder.path().join(format!("conversations/user_local/{id}.jsonl"));
    let whole = std::fs::read(&file).unwrap();
    for more in
        [&b"{\"kind\":\"user\",\"te"[..], b"\xff\xfe", "{\"kind\":\"user\",\"text\":\"\u{e4}".as_bytes()]
    {
        let cut = [&whole[..], &more[..more.len()]].concat();
        std::fs::write(&file, cut).unwrap();
        let mut talk = all.resume(&id).unwrap();
        assert_eq!(letters(talk.items()), "ucR");
        let Some(ChatItem::Results(answers)) = talk.items().nth(2) else { panic!("no results") };
        assert!(answers[0].blocks[0].to_string().contains("program ended"), "{answers:?}");
        assert!(!answers[1].is_error);
        say(&mut talk, ChatItem::User("go on".into()));
        drop(talk);
        assert_eq!(letters(all.resume(&id).unwrap().items()), "ucRu");
    }
}

#[test]
fn of_too_many_conversations_the_one_used_least_lately_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut limits = Limits::default();
    limits.conversations = 2;
    let all = Conversations::of(&UserId::local(), folder.path(), &limits);
    let held = all.create().unwrap();
    for _ in 0..4 {
        drop(all.create().unwrap());
    }
    assert!(all.ids().len() <= 3 && all.ids().contains(held.id()), "{:?}", all.ids());
}

#[test]
fn ids_cannot_leave_the_folder() {
    for bad in ["", "..", "a/b", "../x", "A", "a.b", &"x".repeat(65)] {
        assert!(ConversationId::parse(bad).is_err(), "{bad:?}");
    }
    assert!(ConversationId::parse(ConversationId::new().as_str()).is_ok());
}

#[test]
fn a_conversation_on_the_disk_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let mut limits = Limits::default();
    limits.conversation = 200;
    let mut talk = Conversations::of(&UserId::local(), folder.path(), &limits).create().unwrap();
    let say = |talk: &mut Conversation| talk.push(ChatItem::User("x".repeat(100)), &Masks::default());
    let said = (0..20).take_while(|_| say(&mut talk).is_ok()).count();
    assert!((2..8).contains(&said), "{said}");
    assert!(matches!(say(&mut talk), Err(ConversationError::Full { most: 800, .. })));
}

#[test]
fn secrets_of_servers_are_not_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let all = Conversations::of(&UserId::local(), folder.path(), &Limits::default());
    let mut talk = all.create().unwrap();
    let secret = kitbag::Secret::new("geheim-0815-4711");
    let masks = Masks::new([kitbag_core::text::Redactor::new([&secret])]);
    talk.push(ChatItem::User("my token is geheim-0815-4711".into()), &masks).unwrap();
    talk.push(reply("you said geheim-0815-4711", &["t"]), &masks).unwrap();
    talk.answer(0, answer(0, "geheim-0815-4711 it is"), &masks).unwrap();
    let file = folder.path().join(format!("conversations/user_local/{}.jsonl", talk.id()));
    let written = std::fs::read_to_string(file).unwrap();
    assert!(!written.contains("geheim") && written.lines().count() == 3, "{written}");
    let id = talk.id().clone();
    drop(talk);
    assert_eq!(letters(all.resume(&id).unwrap().items()), "ucR");
}
