//! What a model says, for a terminal: headings, lists, code and emphasis look like it. Lines are shown as soon as they are
//! whole, so a long answer is read while it is made; what spans lines, such as a table, stays as it was written.

use clap::builder::styling::{AnsiColor, Style};
use kitbag_core::text::visible;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::terminal::{DIM, TITLE, styled, wrapped};

const CODE: Style = AnsiColor::Cyan.on_default();

/// Text on its way to a terminal.
#[derive(Default)]
pub(crate) struct Painter {
    /// The line that is not whole yet.
    rest: String,
    /// The marks that end the code we are in: which, and how many at least.
    fence: Option<(char, usize)>,
    /// Where lines are broken.
    width: Option<usize>,
}

impl Painter {
    /// For a terminal of this width.
    pub(crate) fn new(width: Option<usize>) -> Self {
        Self { width, ..Self::default() }
    }

    /// Takes more text, and gives the lines that are whole by now.
    pub(crate) fn push(&mut self, text: &str) -> String {
        self.rest += text;
        let Some(end) = self.rest.rfind('\n') else { return String::new() };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        whole.lines().map(|line| self.line(line) + "\n").collect()
    }

    /// The line that is not whole yet, as it was written.
    pub(crate) fn rest(&self) -> &str {
        &self.rest
    }

    /// The rest, at the end of a text.
    pub(crate) fn end(&mut self) -> String {
        let rest = std::mem::take(&mut self.rest);
        let text = if rest.is_empty() { rest } else { self.line(&rest) };
        self.fence = None;
        text
    }

    fn line(&mut self, line: &str) -> String {
        let text = line.trim_start();
        let indent = &line[..line.len() - text.len()];
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
        let count = mark.map_or(0, |mark| text.chars().take_while(|c| *c == mark).count());
        let is_bare = mark.is_some_and(|mark| text.trim_end().chars().all(|c| c == mark));
        match (self.fence, mark.filter(|_| 3 <= count)) {
            // What begins with three backticks and has more of them is code inside of a line.
            (None, Some('`')) if text[count..].contains('`') => {}
            (None, Some(mark)) => {
                self.fence = Some((mark, count));
                return styled(DIM, shown(line));
            }
            (Some((open, least)), Some(mark)) if open == mark && least <= count && is_bare => {
                self.fence = None;
                return styled(DIM, shown(line));
            }
            (Some(_), _) => return styled(CODE, shown(line)),
            (None, None) => {}
        }
        let painted = format!("{indent}{}", inline(text));
        match self.width {
            Some(width) => wrapped(&painted, width, hang(line)),
            None => painted,
        }
    }
}

/// How far the lines below the first of a paragraph are indented: as far as the text of an item.
fn hang(line: &str) -> usize {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let mark = text.split(' ').next().unwrap_or_default();
    let is_number = mark.strip_suffix(['.', ')']).is_some_and(|digits| digits.parse::<u32>().is_ok());
    match mark {
        "-" | "*" | "+" | ">" => indent + 2,
        _ if is_number => indent + mark.len() + 1,
        _ => indent,
    }
}

/// Fit for a terminal: tabs stay.
fn shown(text: &str) -> String {
    text.split('\t').map(visible).collect::<Vec<_>>().join("\t")
}

/// One line that is no code.
fn inline(line: &str) -> String {
    let (mut text, mut styles, mut links) = (String::new(), vec![Style::new()], Vec::new());
    for event in Parser::new(line) {
        let style = *styles.last().unwrap_or(&Style::new());
        match event {
            Event::Start(Tag::Heading { .. }) => styles.push(TITLE),
            Event::Start(Tag::Strong) => styles.push(style.bold()),
            Event::Start(Tag::Emphasis) => styles.push(style.italic()),
            Event::End(TagEnd::Heading(_) | TagEnd::Strong | TagEnd::Emphasis) => drop(styles.pop()),
            Event::Start(Tag::List(Some(number))) => text += &format!("{number}. "),
            Event::Start(Tag::List(None)) => text += "• ",
            Event::Start(Tag::BlockQuote(_)) => text += "│ ",
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push((text.len(), dest_url));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((begin, address)) = links.pop()
                    && !text[begin..].contains(&*address)
                {
                    text += &styled(DIM, format!(" ({})", shown(&address)));
                }
            }
            Event::Code(code) => text += &styled(CODE, shown(&code)),
            Event::Rule => text += &styled(DIM, "─".repeat(20)),
            Event::Text(said) | Event::Html(said) | Event::InlineHtml(said) => {
                let said = shown(said.trim_end_matches('\n'));
                text += &if style == Style::new() { said } else { styled(style, said) };
            }
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Painter;

    /// As a terminal without colours shows it.
    fn plain(said: &[&str]) -> String {
        let mut painter = Painter::default();
        let text: String = said.iter().map(|piece| painter.push(piece)).collect();
        anstream::adapter::strip_str(&(text + &painter.end())).to_string()
    }

    #[test]
    fn marks_become_what_they_mean() {
        for (said, shown) in [
            ("# Title\n", "Title\n"),
            ("- one\n  - two\n", "• one\n  • two\n"),
            ("3. third\n", "3. third\n"),
            ("**bold** and `code *x*` and _more_", "bold and code *x* and more"),
            (
                "[here](https://a.example/) or <https://a.example/>",
                "here (https://a.example/) or https://a.example/",
            ),
            ("> said\n", "│ said\n"),
            ("2 * 3 * 4 = 24 and snake_case_name", "2 * 3 * 4 = 24 and snake_case_name"),
            ("| a | b |\n|---|---|\n", "| a | b |\n|---|---|\n"),
            ("a < b && c > d\n", "a < b && c > d\n"),
            (
                "```rust\nlet x = \"**no**\";\n# no title\n```\n**yes**\n",
                "```rust\nlet x = \"**no**\";\n# no title\n```\nyes\n",
            ),
            ("\n\n", "\n\n"),
        ] {
            assert_eq!(plain(&[said]), shown, "{said:?}");
        }
    }

    #[test]
    fn lines_are_shown_when_they_are_whole_however_they_come() {
        let mut painter = Painter::default();
        assert_eq!(painter.push("**bo"), "");
        assert!(painter.push("ld**\nand").contains("bold"));
        assert_eq!(painter.end(), "and");
        assert_eq!(plain(&["```\n", "**a", "**\n", "``", "`\n", "**b**"]), "```\n**a**\n```\nb");
        assert_eq!(plain(&["````\n```\n**a**\n````\n```b``` **c**"]), "````\n```\n**a**\n````\nb c");
    }

    #[test]
    fn long_lines_are_broken_between_words_and_items_hang() {
        let paint = |width, said: &str| {
            let mut painter = Painter::new(Some(width));
            let text = painter.push(said) + &painter.end();
            anstream::adapter::strip_str(&text).to_string()
        };
        assert_eq!(paint(12, "one two three **four five** six"), "one two\nthree four\nfive six");
        assert_eq!(
            paint(12, "- one two three\n10. one two three"),
            "• one two\n  three\n10. one two\n    three"
        );
        assert_eq!(paint(8, "averylongword that"), "averylongword\nthat");
        assert_eq!(paint(9, "漢字漢字 漢字"), "漢字漢字\n漢字");
        assert_eq!(paint(9, "```\na line of code that stays\n```"), "```\na line of code that stays\n```");
    }

    #[test]
    fn nothing_that_a_model_writes_reaches_the_terminal_as_a_control() {
        for said in
            ["\u{1b}[2Jx", "`\u{1b}[2J`", "```\n\u{1b}]0;t\u{7}\n```", "[\u{202e}](\u{1b}[1m)", "<\u{1b}[2J>"]
        {
            let mut painter = Painter::default();
            let text = painter.push(said) + &painter.end();
            let plain = anstream::adapter::strip_str(&text).to_string();
            assert!(!plain.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}: {text:?}");
            assert!(!text.contains("\u{1b}[2J") && !text.contains("\u{1b}]0"), "{said:?}: {text:?}");
        }
    }
}
