//! Configuration files nobody wrote: real keys with right and wrong values, in three formats, some of them
//! damaged, with a secret wherever people keep theirs.

use kitbag_core::config::Dialect;
use kitbag_core::config::dialect::ALL;

use super::SECRET;

/// The keys of the reader itself, out of its source.
const KEYS: &str = include_str!("../../../src/config/entry/keys.rs");

pub(crate) fn keys() -> Vec<&'static str> {
    let keys: Vec<&str> = KEYS
        .lines()
        .filter_map(|line| line.trim().strip_prefix("(\"")?.split_once("\", ").map(|(key, _)| key))
        .collect();
    assert!(80 < keys.len(), "the table of keys has moved");
    keys
}

/// SplitMix64: small, and the same everywhere.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub(crate) enum Tree {
    Plain(String),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

pub(crate) struct Generated {
    pub(crate) file: &'static str,
    pub(crate) text: String,
    pub(crate) entries: usize,
    pub(crate) dialect: Option<&'static Dialect>,
}

pub(crate) fn document(seed: u64) -> Generated {
    let mut rng = Rng::new(seed);
    let entries = rng.below(4);
    let wrapper = rng.pick(&[
        "mcpServers",
        "servers",
        "mcp",
        "mcp_servers",
        "context_servers",
        "extensions",
        "mcpServer",
    ]);
    let mut root = Vec::new();
    if rng.one_in(3) {
        root.push(("inputs".to_owned(), Tree::List((0..2).map(|_| input(&mut rng)).collect())));
    }
    let named = rng.one_in(4);
    let servers: Vec<(String, Tree)> =
        (0..entries).map(|_| (name(&mut rng), entry(&mut rng, named))).collect();
    let servers = if named {
        Tree::List(servers.into_iter().map(|(_, tree)| tree).collect())
    } else {
        Tree::Map(servers)
    };
    match rng.below(8) {
        0 => root.push(("mcp".into(), Tree::Map(vec![("servers".into(), servers)]))),
        1 => root = if let Tree::Map(pairs) = servers { pairs } else { root },
        _ => root.push((wrapper.to_owned(), servers)),
    }
    if rng.one_in(6) {
        root.push(("tools".into(), Tree::Map(vec![("a_b".into(), Tree::Plain("false".into()))])));
    }
    // A whole file may count as one server, and so may what stands under its keys.
    let entries = entries.max(1) + root.len();
    let root = Tree::Map(root);
    let (file, mut text) = match rng.below(4) {
        0 => ("x.toml", toml(&root)),
        1 => ("x.yaml", yaml(&root)),
        2 => ("x.yaml", json(&root, &mut rng)),
        _ => ("x.json", json(&root, &mut rng)),
    };
    // A brace more or less makes other entries of the same text; then nobody knows how many there are.
    let damaged = rng.one_in(3);
    let entries = if damaged { usize::MAX } else { entries };
    if damaged {
        damage(&mut text, &mut rng);
    }
    let dialect = rng.one_in(2).then(|| &ALL[rng.below(ALL.len())]);
    Generated { file, text, entries, dialect }
}

fn name(rng: &mut Rng) -> String {
    rng.pick(&[
        "a",
        "b",
        "git hub",
        "文件",
        "",
        " a",
        "a\u{200b}",
        "x/y",
        "_note",
        "a",
        "io.github.ada/notes",
        "😀",
    ])
    .to_owned()
}

fn input(rng: &mut Rng) -> Tree {
    let id = rng.pick(&["key", "region"]).to_owned();
    let pairs = [
        ("type", "promptString".to_owned()),
        ("id", id),
        ("default", secret(rng)),
        ("description", "a key".into()),
    ];
    Tree::Map(pairs.into_iter().map(|(key, text)| (key.to_owned(), Tree::Text(text))).collect())
}

fn entry(rng: &mut Rng, named: bool) -> Tree {
    if rng.one_in(12) {
        return odd(rng);
    }
    let mut pairs = Vec::new();
    if named && !rng.one_in(6) {
        pairs.push(("name".to_owned(), Tree::Text(name(rng))));
    }
    let usual = ["command", "args", "env", "url", "headers", "type", "auth", "timeout"];
    let all = keys();
    for _ in 0..rng.below(7) {
        let key = if rng.one_in(3) { rng.pick(&all) } else { rng.pick(&usual) };
        let value = if rng.one_in(5) { odd(rng) } else { value(key, rng) };
        let key = if rng.one_in(12) { key.replacen(['a', 'e'], "", 1) } else { key.to_owned() };
        pairs.push((key, value));
    }
    Tree::Map(pairs)
}

/// A value of some type or other; never one that holds a secret where nobody would keep one.
fn odd(rng: &mut Rng) -> Tree {
    match rng.below(8) {
        0 => Tree::Plain("null".into()),
        1 => Tree::Plain("true".into()),
        2 => Tree::Plain("-1".into()),
        3 => Tree::Plain("60000".into()),
        4 => Tree::Text(String::new()),
        5 => Tree::List(vec![Tree::Plain("1".into()), Tree::Text("two".into())]),
        6 => Tree::Map(vec![("x".into(), Tree::Plain("false".into()))]),
        _ => Tree::Text(rng.pick(&["text", "${VAR", "$VAR", "{{VAR}}", "${input:key}", "${VAR:-x}"]).into()),
    }
}

fn value(key: &str, rng: &mut Rng) -> Tree {
    let list = |texts: Vec<String>| Tree::List(texts.into_iter().map(Tree::Text).collect());
    match key {
        "command" | "cmd" if rng.one_in(3) => {
            let mut words = vec!["npx".to_owned()];
            words.extend(words_with_secret(rng));
            list(words)
        }
        "command" | "cmd" => {
            Tree::Text(rng.pick(&["npx", "uvx", "/opt/my tools/run", "npx -y thing"]).into())
        }
        "args" => list(words_with_secret(rng)),
        "env" | "envs" | "environment" | "headers" | "http_headers" => {
            let name = rng.pick(&["A", "GITHUB_TOKEN", "Authorization", "X-Thing"]);
            Tree::Map(vec![(name.to_owned(), Tree::Text(secret(rng))), ("B".to_owned(), odd(rng))])
        }
        "url" | "uri" | "httpUrl" | "serverUrl" | "ws_url" => Tree::Text(url(rng)),
        "type" | "transport" | "mode" | "transportType" => {
            Tree::Text(rng.pick(&["stdio", "http", "sse", "websocket", "builtin", "htp", "remote"]).into())
        }
        "auth" => {
            let kind = rng.pick(&["bearer", "api_key", "custom", "oauth", "basic"]);
            Tree::Map(vec![
                ("type".into(), Tree::Text(kind.into())),
                ("token".into(), Tree::Text(secret(rng))),
            ])
        }
        "authToken" | "auth_token" | "bearer_token" | "apiKey" => Tree::Text(secret(rng)),
        "transport." | "connection" => Tree::Map(vec![("url".into(), Tree::Text(url(rng)))]),
        _ => odd(rng),
    }
}

fn secret(rng: &mut Rng) -> String {
    let before = rng.pick(&["", "", "Bearer ", "${VAR}", "${VAR:-", "a=", "k: ", "é漢 "]);
    let after = rng.pick(&["", "", " x", "${input:key}", "=", ",y"]);
    format!("{before}{SECRET}{after}")
}

fn words_with_secret(rng: &mut Rng) -> Vec<String> {
    let words = match rng.below(8) {
        0 => vec!["--token".to_owned(), SECRET.to_owned()],
        1 => vec![format!("--api-key={SECRET}")],
        2 => vec!["--header".to_owned(), format!("Authorization: Bearer {SECRET}")],
        3 => vec!["-e".to_owned(), format!("GITHUB_TOKEN={SECRET}")],
        4 => vec![format!("--env=API_KEY={SECRET}")],
        5 => vec!["--token".to_owned(), format!("{SECRET}${{VAR}}")],
        6 => vec!["-c".to_owned(), format!("npx --token {SECRET} a=1")],
        _ => vec!["mcp-remote".to_owned(), url(rng)],
    };
    words.into_iter().chain([rng.pick(&["-y", "/data", "x=1", "--port"]).to_owned()]).collect()
}

fn url(rng: &mut Rng) -> String {
    match rng.below(6) {
        0 => format!("https://ada:{SECRET}@x.example/mcp"),
        1 => format!("https://x.example/mcp?page=1&token={SECRET}&x=1"),
        2 => format!("https://${{HOST}}/mcp?a=${{VAR}}&api_key={SECRET}"),
        3 => format!("https://ada:{SECRET}${{VAR}}@x.example/mcp?q=1"),
        4 => format!("wss://{SECRET}@x.example/#token={SECRET}"),
        _ => "https://x.example/mcp".to_owned(),
    }
}

/// One structural character too many or too few. The words themselves stay whole: a `--tokn` is no flag of
/// ours to know.
fn damage(text: &mut String, rng: &mut Rng) {
    let is_mark = |(at, c): &(usize, char)| match c {
        ' ' => text[..*at].ends_with(['{', '[', ',', '=', '\n', ' ', '"']),
        c => "{}[],\"\n".contains(*c),
    };
    let marks: Vec<(usize, char)> = text.char_indices().filter(is_mark).collect();
    if marks.is_empty() {
        return;
    }
    let (at, c) = rng.pick(&marks);
    match rng.below(3) {
        0 => text.replace_range(at..at + c.len_utf8(), ""),
        1 => text.insert(at, c),
        _ => {
            text.replace_range(at..at + c.len_utf8(), rng.pick(&["{", "}", "[", "]", ",", "\"", "\n", "\t"]))
        }
    }
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn json(tree: &Tree, rng: &mut Rng) -> String {
    let gap = |rng: &mut Rng| rng.pick(&["", " ", "\n", "\n    "]);
    match tree {
        Tree::Plain(word) => word.clone(),
        Tree::Text(text) => quote(text),
        Tree::List(trees) => {
            let parts: Vec<String> =
                trees.iter().map(|tree| gap(rng).to_owned() + &json(tree, rng)).collect();
            format!("[{}]", parts.join(","))
        }
        Tree::Map(pairs) => {
            let parts: Vec<String> = pairs
                .iter()
                .map(|(key, tree)| format!("{}{}: {}", gap(rng), quote(key), json(tree, rng)))
                .collect();
            format!("{{{}{}}}", parts.join(","), gap(rng))
        }
    }
}

fn toml(tree: &Tree) -> String {
    let inline = |tree: &Tree| toml_value(tree);
    let Tree::Map(pairs) = tree else { return String::new() };
    let mut text = String::new();
    for (key, tree) in pairs {
        match tree {
            Tree::Map(inner) => {
                for (name, tree) in inner {
                    match tree {
                        Tree::Map(fields) => {
                            text += &format!("[{}.{}]\n", quote(key), quote(name));
                            fields.iter().for_each(|(key, tree)| {
                                text += &format!("{} = {}\n", quote(key), inline(tree))
                            });
                        }
                        other => text += &format!("[{}]\n{} = {}\n", quote(key), quote(name), inline(other)),
                    }
                }
            }
            other => text += &format!("{} = {}\n", quote(key), inline(other)),
        }
    }
    text
}

fn toml_value(tree: &Tree) -> String {
    match tree {
        Tree::Plain(word) if word == "null" => "\"\"".to_owned(),
        Tree::Plain(word) => word.clone(),
        Tree::Text(text) => quote(text),
        Tree::List(trees) => format!("[{}]", trees.iter().map(toml_value).collect::<Vec<_>>().join(", ")),
        Tree::Map(pairs) => {
            let parts: Vec<String> =
                pairs.iter().map(|(key, tree)| format!("{} = {}", quote(key), toml_value(tree))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
    }
}

/// Block style; plain scalars where YAML allows them.
fn yaml(tree: &Tree) -> String {
    let mut text = String::new();
    block(tree, 0, &mut text);
    text
}

fn block(tree: &Tree, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match tree {
        Tree::Plain(word) => *text += &format!(" {word}\n"),
        Tree::Text(word) => {
            let plain = word.starts_with(|c: char| c.is_alphabetic())
                && !word.ends_with(' ')
                && !word.contains(": ")
                && !word.contains(" #");
            *text += &format!(" {}\n", if plain { word.clone() } else { quote(word) });
        }
        Tree::List(trees) if trees.is_empty() => *text += " []\n",
        Tree::Map(pairs) if pairs.is_empty() => *text += " {}\n",
        Tree::List(trees) => {
            *text += "\n";
            for tree in trees {
                *text += &format!("{indent}-");
                block(tree, depth + 1, text);
            }
        }
        Tree::Map(pairs) => {
            *text += "\n";
            for (key, tree) in pairs {
                *text += &format!("{indent}{}:", quote(key));
                block(tree, depth + 1, text);
            }
        }
    }
}
