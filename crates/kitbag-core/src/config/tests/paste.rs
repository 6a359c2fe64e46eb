use super::written;
use crate::config::paste::read_pasted;
use crate::model::Limits;

#[test]
fn s2_14_pasted_json() {
    let check = |text: &str, want: &[&str]| {
        let document = read_pasted(text, &Limits::default());
        let got: Vec<String> = document
            .servers
            .iter()
            .map(|loaded| {
                format!("{} {} {}", loaded.name, loaded.place.line, written(loaded.spec.as_ref().unwrap()))
            })
            .collect();
        assert_eq!(got, want, "{text}\n{:?}", document.faults);
    };
    let map = r#"{"mcpServers": {"a": {"command": "c"}, "b": {"url": "http://h/"}}}"#;
    check(map, &["a 1 stdio command=c", "b 1 auto url=http://h/"]);
    check(&format!("```json\n{map}\n```"), &["a 2 stdio command=c", "b 2 auto url=http://h/"]);
    check(
        &format!("Add this:\r\n\r\n```\r\n{map}\r\n```\r\nDone."),
        &["a 4 stdio command=c", "b 4 auto url=http://h/"],
    );
    check(&format!("  ```json\n{map}"), &["a 2 stdio command=c", "b 2 auto url=http://h/"]);
    check("```\n{\"name\": \"n\", \"command\": \"c\", \"timeout\": 5}\n```", &["n 2 stdio command=c"]);
    check(r#"{"name": "n", "transport": "sse", "url": "http://h/"}"#, &["n 1 sse url=http://h/"]);
    check(r#"{"n": {"command": "c"}}"#, &["n 1 stdio command=c"]);
    // Backticks inside a text are no fence.
    check("{\"name\": \"n\", \"description\": \"```\",\n\"command\": \"c\"}", &["n 1 stdio command=c"]);
}

#[test]
fn s2_14_a_mistake_has_its_place_in_what_was_pasted() {
    let check = |text: &str, want: &str| {
        let document = read_pasted(text, &Limits::default());
        let own = document.servers.iter().flat_map(|loaded| &loaded.faults);
        let places: Vec<String> = document.faults.iter().chain(own).map(ToString::to_string).collect();
        assert!(places.iter().any(|place| place.starts_with(want)), "{text}: {places:?}");
    };
    check("{\"mcpServers\": {\"a\": {\"command\" \"c\"}}}", "<pasted>:1:33: not valid JSON");
    check("```json\n{\"a\":\n  1,,}\n```", "<pasted>:3:5: not valid JSON");
    check("See:\n\n```json\n{\"a\": {\"command\": 1}}\n```", "<pasted>:4:");
    check("", "nothing was pasted");
    check("```\n```", "nothing was pasted");
    check("not json", "<pasted>:1:1: not valid JSON");
}

#[test]
fn places_of_values_count_the_fence_too() {
    let document = read_pasted(
        "x\n```\n{\"mcpServers\": {\"a\": {\"command\": \"c\"},\n\"b\": {\"enabled\": false}}}\n```",
        &Limits::default(),
    );
    let spec = document.servers[0].spec.as_ref().unwrap();
    assert_eq!(
        (spec.origin.place.line, spec.places["command"].line, document.toggles[0].place.line),
        (3, 3, 4)
    );
}
