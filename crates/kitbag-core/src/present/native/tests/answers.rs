//! Results, encoded.

use super::*;

fn blocks() -> Vec<Value> {
    vec![
        json!({"type": "text", "text": "Found it."}),
        json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
        json!({"type": "image", "data": "AAAA", "mimeType": "image/svg+xml"}),
        json!({"type": "audio", "data": "AAAAAA==", "mimeType": "audio/wav"}),
        json!({"type": "resource", "resource": {"uri": "file:///a/b.txt", "mimeType": "text/plain", "text": "inside"}}),
        json!({"type": "resource", "resource": {"uri": "file:///a/c.pdf", "mimeType": "application/pdf", "blob": "AAA="}}),
        json!({"type": "resource_link", "uri": "https://x.org/y", "name": "y", "mimeType": "text/html"}),
        json!({"type": "text", "text": ""}),
        json!({"type": "hologram", "depth": 3}),
    ]
}

fn answer(blocks: Vec<Value>, is_error: bool) -> ToolAnswer {
    ToolAnswer { id: Some("c1".to_owned()), tool: "mcp_s_t".to_owned(), blocks, is_error }
}

#[test]
fn every_kind_of_content_for_every_provider() {
    let mut out = String::new();
    let failed = answer(vec![json!({"type": "text", "text": "no such file"})], true);
    let silent = ToolAnswer { id: None, ..answer(Vec::new(), false) };
    for provider in Provider::ALL {
        let messages = encode(provider, &[answer(blocks(), false), failed.clone(), silent.clone()]);
        out += &format!("# {provider}\n{}\n\n", serde_json::to_string_pretty(&messages).unwrap());
        assert!(encode(provider, &[]).is_empty());
    }
    insta::with_settings!({snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("answers", out);
    });
}

#[test]
fn errors_say_that_they_are() {
    let failed = [answer(vec![json!({"type": "text", "text": "no \"file\""})], true)];
    let of = |provider| encode(provider, &failed).remove(0);
    assert_eq!(of(Provider::OpenAiChat)["content"], r#"{"error":"no \"file\""}"#);
    assert_eq!(of(Provider::OpenAiResponses)["output"], r#"{"error":"no \"file\""}"#);
    assert_eq!(of(Provider::Anthropic)["content"][0]["is_error"], true);
    assert_eq!(
        of(Provider::Gemini)["parts"][0]["functionResponse"]["response"],
        json!({"error": "no \"file\""})
    );
    assert_eq!(of(Provider::Generic)["error"], "no \"file\"");
}

#[test]
fn f94_an_error_with_an_image_is_taken_by_anthropic() {
    let text = json!({"type": "text", "text": "no such page"});
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let failed = answer(vec![text, image.clone()], true);
    let other = ToolAnswer { id: Some("c2".to_owned()), ..answer(vec![image], false) };
    let message = encode(Provider::Anthropic, &[failed, other]).remove(0);
    let content = message["content"].as_array().unwrap();
    let kinds: Vec<&str> = content.iter().map(|block| block["type"].as_str().unwrap()).collect();
    // Results first, then what came with the error.
    assert_eq!(kinds, ["tool_result", "tool_result", "text", "image"]);
    assert_eq!(content[0]["is_error"], true);
    assert_eq!(
        content[0]["content"],
        json!([{"type": "text", "text": "no such page\n[image/png, 3 bytes]"}])
    );
    assert_eq!(content[1]["content"][0]["type"], "image");
    assert_eq!(content[3]["source"]["data"], "AAAA");
}
