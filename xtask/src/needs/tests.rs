use super::*;

#[track_caller]
fn check(check: fn() -> bool, install: fn() -> anyhow::Result<()>, expected: &str) {
    let met = Need { what: "a thing", check, install }.meet();
    let shown = met.map_or_else(|error| format!("{error:#}"), |()| "met".into());
    assert_eq!(shown, expected);
}

#[test]
fn a_need_is_met_or_says_why_not() {
    check(|| true, || anyhow::bail!("not asked"), "met");
    check(|| false, || anyhow::bail!("no network"), "the tests need a thing: no network");
    check(|| false, || Ok(()), "the tests need a thing, which is still missing after its installation");
}
