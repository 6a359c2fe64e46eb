use super::*;

fn style(budget: usize, most: usize) -> Style {
    Style {
        of_all: None,
        rest: Mode::Auto,
        has_own: false,
        defers: false,
        most,
        budget,
        description: usize::MAX,
    }
}

#[track_caller]
fn check(budget: usize, most: usize, expected: &[&str]) {
    let server = |name: &str, tools, tokens, gateway| {
        (ServerName::parse(name).unwrap(), Weight { tools, tokens, gateway })
    };
    // What has one small tool is smaller than its gateway.
    let open =
        vec![server("small", 1, 50, 80), server("large", 50, 5_000, 90), server("middle", 10, 900, 90)];
    let chosen = fit(Weight { tools: 3, tokens: 300, gateway: 0 }, open, &style(budget, most));
    let names: Vec<&str> = chosen.iter().map(ServerName::as_str).collect();
    assert_eq!(names, expected, "{budget} tokens, {most} tools");
}

#[test]
fn the_largest_servers_go_first_and_no_more_than_needed() {
    check(6_250, usize::MAX, &[]);
    check(6_249, usize::MAX, &["large"]);
    check(1_340, usize::MAX, &["large"]);
    check(1_339, usize::MAX, &["large", "middle"]);
    // Nothing is gained by the last one, so it stays.
    check(1, usize::MAX, &["large", "middle"]);
    check(100_000, 64, &[]);
    check(100_000, 63, &["large"]);
    check(100_000, 10, &["large", "middle"]);
}
