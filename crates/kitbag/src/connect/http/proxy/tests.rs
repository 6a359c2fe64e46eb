use super::*;

#[track_caller]
fn check(vars: &[(&str, &str)], url: &str, expected: &str) {
    let env = vars.iter().fold(Env::default(), |env, (name, value)| env.with(name, value));
    let found = Proxies::of(&env).for_address(&Url::parse(url).unwrap());
    let shown = match found {
        Ok(None) => "none".to_owned(),
        Ok(Some(proxy)) => format!("{proxy:?}"),
        Err(why) => why,
    };
    assert!(shown.contains(expected), "{vars:?} {url}: {shown}");
}

#[test]
fn f53_proxies_are_those_of_the_environment() {
    check(&[], "https://a.test/mcp", "none");
    check(&[("HTTPS_PROXY", "http://p.test:1")], "https://a.test/mcp", "p.test");
    check(&[("https_proxy", "http://p.test:1")], "https://a.test/mcp", "p.test");
    check(&[("HTTPS_PROXY", "http://p.test:1")], "http://a.test/mcp", "none");
    check(&[("HTTP_PROXY", "p.test:1")], "http://a.test/mcp", "p.test");
    check(&[("ALL_PROXY", "http://p.test:1")], "http://a.test/mcp", "p.test");
    check(&[("all_proxy", "socks5h://p.test:1")], "https://a.test/mcp", "p.test");
    check(
        &[("ALL_PROXY", "http://other.test"), ("http_proxy", "http://p.test:1")],
        "http://a.test/",
        "p.test",
    );
    check(&[("HTTP_PROXY", " ")], "http://a.test/mcp", "none");
    for here in
        ["http://localhost:3000/mcp", "http://127.0.0.1/mcp", "http://[::1]:1/mcp", "http://a.localhost/"]
    {
        check(&[("HTTP_PROXY", "http://p.test:1")], here, "none");
    }
    check(
        &[("HTTP_PROXY", "::no url::")],
        "http://a.test/mcp",
        "the proxy of HTTP_PROXY or ALL_PROXY cannot be used",
    );
}

#[test]
fn f53_the_password_of_a_proxy_is_not_shown() {
    let env = Env::default().with("HTTPS_PROXY", "http://ada:hunter22@p.test:1");
    assert!(!format!("{:?}", Proxies::of(&env)).contains("hunter22"));
}
