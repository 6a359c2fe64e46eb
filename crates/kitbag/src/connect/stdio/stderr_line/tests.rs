use super::*;

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(reason_in(&lines(text)).as_deref(), Some(expected), "{text}");
}

#[test]
fn f59_the_line_with_the_reason_is_chosen() {
    // Node, with the object an error carries.
    check(
        "/app/index.js:3\nthrow new Error('x');\n^\n\nError: BRAVE_API_KEY is required\n    at Object.<anonymous> (/app/index.js:3:7)\n    at node:internal/main:1:2 {\n  code: 'E'\n}\n\nNode.js v20.1.0\n",
        "Error: BRAVE_API_KEY is required",
    );
    // Python, plain and in a box.
    check(
        "Traceback (most recent call last):\n  File \"/s.py\", line 3, in <module>\n    raise KeyError('error in code')\n    ^^^^^^\nKeyError: 'NOTION_TOKEN'\n",
        "KeyError: 'NOTION_TOKEN'",
    );
    check(
        "╭──── Traceback ────╮\n│ File \"/s.py\", line 3 │\n╰───────╯\n│ ValueError: no database given │\n╰───────╯\n",
        "ValueError: no database given",
    );
    check(
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/nope\nnpm error 404\nnpm error 404  'nope@*' is not in this registry.\nnpm error A complete log of this run can be found in: /x\n",
        "npm error 404 Not Found - GET https://registry.npmjs.org/nope",
    );
    check(
        "thread 'main' panicked at src/main.rs:3:5:\nno port given\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
        "thread 'main' panicked at src/main.rs:3:5: no port given",
    );
    check("starting up\nUsage: server --root DIR\n", "Usage: server --root DIR");
    check("one\ntwo\nthree\nfour\n", "two / three / four");
    assert_eq!(reason_in(&lines("}\n]\n────\n")), None);
}

#[test]
fn f53_a_variable_that_was_kept_back_is_found_by_its_name() {
    let withheld = ["BRAVE_API_KEY".to_owned(), "EDITOR".to_owned()];
    let of = |text: &str| missing_variable(&lines(text), &withheld).map(str::to_owned);
    assert_eq!(of("Error: BRAVE_API_KEY is required"), Some("BRAVE_API_KEY".to_owned()));
    assert_eq!(of("set `BRAVE_API_KEY`.\nbye"), Some("BRAVE_API_KEY".to_owned()));
    assert_eq!(of("MY_BRAVE_API_KEY is required"), None);
    assert_eq!(of("OTHER_KEY is required"), None);
}
