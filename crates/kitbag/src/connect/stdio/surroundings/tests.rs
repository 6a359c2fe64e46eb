use super::*;

#[track_caller]
fn check(name: &str, value: &str, expected: [bool; 3]) {
    let env = Env::default().with(name, value);
    let has = |reach| variables(&env, reach).any(|(passed, _)| passed == name);
    let found = [EnvReach::Usual, EnvReach::Session, EnvReach::All].map(has);
    assert_eq!(found, expected, "{name}={value}");
}

#[test]
fn f53_what_people_rely_on_is_passed_and_no_secret_is() {
    let everybody = [true; 3];
    check("LANG", "de_DE.UTF-8", everybody);
    check("LC_MESSAGES", "C", everybody);
    check("XDG_CONFIG_HOME", "/home/ada/.config", everybody);
    check("HTTPS_PROXY", "http://proxy.corp:3128", everybody);
    check("no_proxy", "localhost,.corp", everybody);
    check("NODE_EXTRA_CA_CERTS", "/etc/corp.pem", everybody);
    check("AWS_PROFILE", "dev", everybody);
    check("AWS_SHARED_CREDENTIALS_FILE", "/home/ada/.aws/credentials", everybody);
    check("KUBECONFIG", "/home/ada/.kube/config", everybody);
    check("npm_config_registry", "https://npm.corp/", everybody);
    check("UV_INDEX_URL", "https://pypi.corp/simple", everybody);

    let asked_for = [false, false, true];
    check("AWS_SECRET_ACCESS_KEY", "CANARY", asked_for);
    check("AWS_SESSION_TOKEN", "CANARY", asked_for);
    check("GITHUB_TOKEN", "CANARY", asked_for);
    check("OPENAI_API_KEY", "CANARY", asked_for);
    check("LD_PRELOAD", "/tmp/x.so", asked_for);
    check("NODE_OPTIONS", "--require /tmp/x.js", asked_for);
    // On the list, and with a secret in it.
    check("HTTPS_PROXY", "http://ada:pass@proxy.corp:3128", asked_for);
    check("PIP_INDEX_URL", "https://ada:pass@pypi.corp/simple", asked_for);
    check("UV_PUBLISH_TOKEN", "CANARY", asked_for);
    check("NPM_CONFIG__AUTHTOKEN", "CANARY", asked_for);

    let own = [false, true, true];
    check("SSH_AUTH_SOCK", "/tmp/ssh-1/agent", own);
    check("DISPLAY", ":0", own);
    check("WAYLAND_DISPLAY", "wayland-0", own);
    check("XAUTHORITY", "/home/ada/.Xauthority", own);
}
