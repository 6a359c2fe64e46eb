//! How much the hints about definitions find, and how often they are wrong: over tools of attacks and of real servers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kitbag_core::catalog::{ServerTools, Snapshot};
use kitbag_core::{FaultKind, Limits, ServerName};
use serde_json::Value;
use testkit::corpus::{self, Recorded};

const KINDS: [FaultKind; 6] = [
    FaultKind::InstructsModel,
    FaultKind::AsksForSecrets,
    FaultKind::AsksForContext,
    FaultKind::NamesOtherTool,
    FaultKind::EncodedText,
    FaultKind::HiddenCharacters,
];

/// What was found in one set of tools.
#[derive(Default)]
struct Found {
    tools: usize,
    /// Tools with a hint of any kind.
    any: usize,
    by_kind: BTreeMap<FaultKind, usize>,
    said: Vec<String>,
}

/// Looks at the tools of servers as if they were all in use at once.
fn look(servers: &[Recorded]) -> Found {
    let mut found = Found::default();
    let mut snapshot = Snapshot::default();
    for (number, recorded) in servers.iter().enumerate() {
        // Only the texts count: files that define one name twice are one server each time.
        let server = ServerName::parse(&format!("{number} {}", recorded.server)).unwrap();
        let texts = recorded.texts();
        let part = ServerTools::parse(&server, texts.iter().map(String::as_str), &Limits::default());
        assert_eq!(part.tools.len() + part.rejected.len(), texts.len());
        assert!(part.rejected.is_empty(), "{server}: {:?}", part.rejected);
        found.tools += part.tools.len();
        snapshot = snapshot.with(part).unwrap();
    }
    let mut hinted = BTreeMap::<_, Vec<FaultKind>>::new();
    for note in snapshot.notes(&|_| None).into_iter().filter(|note| KINDS.contains(&note.kind)) {
        found.said.push(note.to_string());
        hinted.entry((note.server, note.tool)).or_default().push(note.kind);
    }
    found.any = hinted.len();
    for kinds in hinted.into_values() {
        for kind in KINDS.into_iter().filter(|kind| kinds.contains(kind)) {
            *found.by_kind.entry(kind).or_default() += 1;
        }
    }
    found
}

/// Each tool as a server of its own: lists that define one name several times are read whole.
fn apart(tools: impl IntoIterator<Item = Value>) -> Vec<Recorded> {
    tools.into_iter().map(|tool| Recorded { server: "x".to_owned(), tools: vec![tool] }).collect()
}

fn tools(servers: Vec<Recorded>) -> impl Iterator<Item = Value> {
    servers.into_iter().flat_map(|recorded| recorded.tools)
}

/// The page with the figures.
const PAGE: &str = "docs/findings.md";
/// What of a harmless set may be hinted at, in per cent.
const FALSE_ALARMS: f64 = 1.0;

/// The sets of attacks.
fn attacks() -> Vec<(String, Found)> {
    let mut sets =
        vec![("Cisco mcp-scanner, malicious".to_owned(), look(&apart(tools(corpus::cisco_malicious()))))];
    let mut by_attack: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (attack, tool) in corpus::msb() {
        by_attack.entry(attack).or_default().push(tool);
    }
    let all = by_attack.values().flatten().cloned();
    sets.push(("MSB, all attacks".to_owned(), look(&apart(all))));
    sets.extend(by_attack.into_iter().map(|(attack, tools)| (format!("MSB, {attack}"), look(&apart(tools)))));
    sets
}

/// The sets of real or harmless servers, each in use at once.
fn harmless() -> Vec<(String, Found)> {
    vec![
        ("Cisco mcp-scanner, harmless".to_owned(), look(&corpus::cisco_benign())),
        ("LiveMCPBench, 70 servers".to_owned(), look(&corpus::livemcpbench())),
        ("18 well-known servers".to_owned(), look(&corpus::servers())),
    ]
}

fn per_cent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn table(title: &str, share: &str, sets: &[(String, Found)]) -> String {
    let kinds: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.as_str())).collect();
    let mut text = format!("| {title} | tools | hinted at | {share} | {} |\n", kinds.join(" | "));
    text += &format!("|---|{}\n", "---:|".repeat(3 + KINDS.len()));
    for (name, found) in sets {
        let counts: Vec<String> = KINDS
            .iter()
            .map(|kind| found.by_kind.get(kind).copied().unwrap_or_default().to_string())
            .collect();
        let share = per_cent(found.any, found.tools);
        text += &format!(
            "| {name} | {} | {} | {share:.1} % | {} |\n",
            found.tools,
            found.any,
            counts.join(" | ")
        );
    }
    text
}

/// Whatever is claimed of the hints is what they do here, and no more.
#[test]
fn t19_the_figures_of_the_docs_are_the_measured_ones() {
    let (attacks, harmless) = (attacks(), harmless());
    // The first two sets of attacks are whole; the rest are parts of the second.
    let right: usize = attacks.iter().take(2).map(|(_, found)| found.any).sum();
    let wrong: usize = harmless.iter().map(|(_, found)| found.any).sum();
    let precision = per_cent(right, right + wrong);
    let measured = format!(
        "{}\n{}\nOf {} tools with a hint {right} belong to an attack: precision {precision:.1} %.\n",
        table("attacks", "recall", &attacks),
        table("harmless", "false alarms", &harmless),
        right + wrong,
    );
    for (name, found) in &harmless {
        let share = per_cent(found.any, found.tools);
        assert!(share <= FALSE_ALARMS, "{name}: {share:.1} % false alarms:\n{}", found.said.join("\n"));
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = fs::read_to_string(page).unwrap_or_default();
    assert!(page.contains(&measured), "{PAGE} does not say what was measured:\n\n{measured}");
}
