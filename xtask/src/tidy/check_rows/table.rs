//! Reads the tables of the page. Strict, because a row that is not understood would be a promise nobody checks.

use super::{Finding, PAGE};

const HEAD: [&str; 4] = ["number", "sentence", "tests", "open"];

/// One promise.
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) number: &'a str,
    pub(super) tests: Vec<&'a str>,
    pub(super) open: &'a str,
}

/// All rows of all tables, and what is wrong with the tables themselves.
pub(super) fn read(page: &str) -> (Vec<Row<'_>>, Vec<Finding>) {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    let mut lines_into_table = 0;
    for (index, line) in page.lines().enumerate() {
        let Some(cells) = cells(line) else {
            lines_into_table = 0;
            continue;
        };
        lines_into_table += 1;
        let read = match lines_into_table {
            1 => head(&cells).map(|()| None),
            2 => Ok(None),
            _ => row(index + 1, &cells).map(Some),
        };
        match read {
            Ok(row) => rows.extend(row),
            Err(text) => findings.push(Finding::fail(PAGE, index + 1, text)),
        }
    }
    (rows, findings)
}

/// The cells of a table line; `\|` is text.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?;
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in inside.match_indices('|').filter(|(at, _)| !inside[..*at].ends_with('\\')) {
        cells.push(inside[start..at].trim());
        start = at + 1;
    }
    cells.push(inside[start..].trim());
    Some(cells)
}

fn head(cells: &[&str]) -> Result<(), String> {
    let same = cells.len() == HEAD.len()
        && cells.iter().zip(HEAD).all(|(cell, head)| cell.eq_ignore_ascii_case(head));
    if same { Ok(()) } else { Err(format!("the columns are {}", HEAD.join(", "))) }
}

fn row<'a>(line: usize, cells: &[&'a str]) -> Result<Row<'a>, String> {
    let [number, sentence, tests, open] = *cells else {
        return Err(format!("{} cells instead of {}", cells.len(), HEAD.len()));
    };
    if number.is_empty() || sentence.is_empty() {
        return Err("a row has a number and a sentence".into());
    }
    Ok(Row { line, number, tests: names(tests)?, open })
}

/// The names in backticks.
fn names(cell: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    for (index, piece) in cell.split('`').enumerate() {
        if index % 2 == 1 {
            names.push(piece);
        } else if piece.contains(|c: char| c.is_alphanumeric() || c == '_') {
            return Err(format!("tests are names in backticks, not `{}`", piece.trim()));
        }
    }
    Ok(names)
}
