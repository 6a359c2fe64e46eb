//! The terminal: whether there is one, how wide it is, what may be coloured, and asking a question.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::builder::styling::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Table, presets};
use kitbag_core::text::visible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// However narrow a terminal is, so much of a path is shown.
pub(crate) const SHORTEST_PATH: usize = 20;

/// A text in a style; the stream it is written to drops the style where it does not belong.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A number and its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Whether a person sits there who can be asked.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether results are read on a terminal.
pub(crate) fn is_shown() -> bool {
    io::stdout().is_terminal()
}

/// How wide the terminal is, if there is one.
pub(crate) fn width() -> Option<usize> {
    Table::new().width().map(usize::from)
}

/// A text of many lines, fit for a terminal: lines and tabs stay, everything else that does not show is made
/// to.
pub(crate) fn readable(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t");
    text.split('\n').map(|text| line(text.strip_suffix('\r').unwrap_or(text))).collect::<Vec<_>>().join("\n")
}

/// A table without frames that fits the terminal; without one it is as wide as it needs to be.
pub(crate) fn table() -> Table {
    let mut table = Table::new();
    // The stream drops colours where they do not belong; the table need not know.
    // Lines are indented by one, and one that is too long by a blank makes an empty one on the terminal.
    if let Some(width) = table.width() {
        table.set_width(width.saturating_sub(1));
    }
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).enforce_styling();
    table
}

/// A cell in a style; a table counts widths and must know colours from text.
pub(crate) fn cell(style: Style, text: impl std::fmt::Display) -> Cell {
    let cell = Cell::new(text.to_string());
    match style {
        GOOD => cell.fg(Color::Green),
        ODD => cell.fg(Color::Yellow),
        BAD => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        DIM => cell.add_attribute(Attribute::Dim),
        _ => cell,
    }
}

/// Columns that are as wide as what they hold; the others share the rest.
pub(crate) fn keep_whole(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
}

/// A table as lines, indented and without blanks at their ends.
pub(crate) fn lines(table: &Table) -> String {
    table.lines().map(|line| format!(" {}", without_end(&line)).trim_end().to_owned() + "\n").collect()
}

/// A line without the blanks at its end, also where a style ends after them.
fn without_end(line: &str) -> String {
    let mut end = line.trim_end();
    let mut codes = String::new();
    while let Some(at) = end.rfind('\u{1b}').filter(|at| end[*at..].find('m') == Some(end.len() - at - 1)) {
        codes.insert_str(0, &end[at..]);
        end = end[..at].trim_end();
    }
    format!("{end}{codes}")
}

/// A text below a line of a table, indented and broken between words.
pub(crate) fn below(style: Style, text: &str) -> String {
    let mut table = table();
    table.add_row(["  ", text]);
    keep_whole(&mut table, &[0]);
    let lines = lines(&table);
    // Styled here and not in the table, which would style the blanks around it, too.
    lines.lines().map(|line| format!("{:6}{}\n", "", styled(style, line.trim_start()))).collect()
}

/// A path that takes no more than its share of a line.
pub(crate) fn path_end(path: &str) -> String {
    let share = |width: usize| (width * 2 / 5).max(SHORTEST_PATH);
    path_within(path, width().map_or(usize::MAX, share))
}

/// The end of a path that is longer than this, so that it is never broken: the end tells more.
pub(crate) fn path_within(path: &str, most: usize) -> String {
    let length = path.chars().count();
    if length <= most {
        return path.to_owned();
    }
    let end: String = path.chars().skip(length + 1 - most.max(1)).collect();
    // From the next folder on, where there is one.
    let end = end.find('/').filter(|at| at + 1 < end.len()).map_or(end.as_str(), |at| &end[at..]);
    format!("…{end}")
}

/// A line broken between words so that none is wider than this; those after the first are indented. Styles take no room.
pub(crate) fn wrapped(line: &str, width: usize, indent: usize) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for (at, word) in line.split(' ').enumerate() {
        let wide = columns(word);
        if 0 < at && width < column + 1 + wide && indent < column {
            // Blanks at the end of a line would be seen where a style goes on.
            text.truncate(text.trim_end_matches(' ').len());
            text += &format!("\n{:indent$}", "");
            column = indent;
        } else if 0 < at {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += wide;
    }
    text
}

/// A line of stderr: broken between words where it is read on a terminal, else as it is.
pub(crate) fn on_terminal(line: &str, indent: usize) -> String {
    match width().filter(|_| io::stderr().is_terminal()) {
        Some(width) => wrapped(line, width, indent),
        None => line.to_owned(),
    }
}

/// How many columns a text takes, styles not counted.
pub(crate) fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
}

/// The end of a text, as much of it as has room.
pub(crate) fn end_within(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut room, mut start) = (columns.saturating_sub(1), text.len());
    for (at, c) in text.char_indices().rev() {
        let Some(left) = room.checked_sub(c.width().unwrap_or_default()) else { break };
        (room, start) = (left, at);
    }
    format!("…{}", &text[start..])
}

/// The beginning of a text, as much of it as has room.
pub(crate) fn start_within(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut room, mut end) = (columns.saturating_sub(1), 0);
    for (at, c) in text.char_indices() {
        let Some(left) = room.checked_sub(c.width().unwrap_or_default()) else { break };
        (room, end) = (left, at + c.len_utf8());
    }
    format!("{}…", &text[..end])
}

/// Begins a line that somebody is to end.
pub(crate) fn prompt(text: &str) {
    let mut err = io::stderr();
    let _ = write!(err, "{text}").and_then(|()| err.flush());
}

/// Asks a yes-or-no question; no answer is no.
pub(crate) fn confirm(question: &str) -> bool {
    let answer = ask(&format!("{question} [y/N] "));
    matches!(answer.as_deref().map(str::trim), Some("y" | "Y" | "yes"))
}

/// Asks for a line.
pub(crate) fn ask(question: &str) -> Option<String> {
    let mut err = io::stderr();
    write!(err, "{question}").and_then(|()| err.flush()).ok()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).ok()?;
    (0 < read).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}
