//! Tools as a person reads them: under their category, or else under their server, a line each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::builder::styling::Style;
use comfy_table::{ColumnConstraint, Row};
use kitbag::{ServerName, View, ViewTool};
use kitbag_core::text::visible;

use crate::context::Context;
use crate::terminal::{DIM, TITLE, cell, is_shown, lines, plural, styled, table, width};

/// The least a description gets of a line; a name that leaves less stands on a line of its own.
const DESCRIPTION: usize = 36;

/// How far names are indented, and descriptions below a name more than that.
const INDENT: usize = 2;

/// What is shown, and whether the servers had time to become ready.
pub(super) struct ShownView<'a> {
    pub(super) view: &'a Arc<View>,
    pub(super) when: When,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Servers are about to be started: who cannot be, is told afterwards.
    Early,
    /// Servers are there, or it is known that they are not.
    Settled,
}

impl ShownView<'_> {
    fn is_available(&self, row: &ViewTool) -> bool {
        self.when == When::Early || self.view.is_available(row)
    }

    fn is_stale(&self, row: &ViewTool) -> bool {
        self.when == When::Settled && self.view.snapshot().stale(&row.tool.server).is_some()
    }
}

/// What tools stand under: categories where there are any, with those of none last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Heading<'a> {
    Category(&'a str),
    NoCategory,
    Server(&'a ServerName),
}

impl<'a> Heading<'a> {
    fn of(row: &'a ViewTool, by_category: bool) -> Self {
        match row.tool.category.as_deref() {
            Some(category) => Self::Category(category),
            None if by_category => Self::NoCategory,
            None => Self::Server(&row.tool.server),
        }
    }

    fn text(&self, count: usize) -> String {
        match self {
            Self::Category(category) => styled(TITLE, visible(category)),
            Self::NoCategory => styled(TITLE, "(no category)"),
            Self::Server(server) => {
                let count = styled(DIM, format!("({})", plural(count, "tool")));
                format!("{} {count}", styled(TITLE, visible(server.as_str())))
            }
        }
    }
}

pub(super) fn print(context: &mut Context, seen: &ShownView<'_>, rows: &[&ViewTool]) {
    let by_category = rows.iter().any(|row| row.tool.category.is_some());
    let mut groups: BTreeMap<Heading<'_>, Vec<&ViewTool>> = BTreeMap::new();
    for row in rows {
        groups.entry(Heading::of(row, by_category)).or_default().push(row);
    }
    let column = name_column(rows);
    let mut text = String::new();
    for (heading, rows) in groups {
        // A pipe gets no more than rows, unless somebody sorted them into categories.
        if by_category || is_shown() {
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", heading.text(rows.len()));
        }
        text += &group(seen, &rows, column);
    }
    if is_shown() && !context.global.quiet && !rows.is_empty() {
        text += &format!("\n{}\n", styled(DIM, summary(seen, rows)));
    }
    context.print(text);
}

/// How wide the names are that leave room for a description.
fn name_column(rows: &[&ViewTool]) -> usize {
    let most = |width: usize| width.saturating_sub(DESCRIPTION + 2 * INDENT).min(width / 2);
    let most = width().map_or(usize::MAX, most);
    let lengths = rows.iter().map(|row| row.name.as_str().len());
    lengths.filter(|length| *length <= most).max().unwrap_or(0)
}

fn group(seen: &ShownView<'_>, rows: &[&ViewTool], column: usize) -> String {
    let (mut text, mut beside) = (String::new(), table());
    for row in rows {
        let name = row.name.as_str();
        let (style, about) = described(seen, row);
        if name.len() <= column {
            beside.add_row(one_line([cell(style, format!("{name:column$}")), cell(style, about)]));
            continue;
        }
        text += &flush(&mut beside);
        text += &format!("{:INDENT$}{}\n", "", styled(style, name));
        if !about.is_empty() {
            let mut below = table();
            below.add_row(one_line([cell(style, "  "), cell(style, about)]));
            text += &flush(&mut below);
        }
    }
    text + &flush(&mut beside)
}

fn one_line<const N: usize>(cells: [comfy_table::Cell; N]) -> Row {
    let mut row = Row::from(cells);
    row.max_height(1);
    row
}

/// A table as lines, with the first column as wide as it is written; the table is empty afterwards.
fn flush(rows: &mut comfy_table::Table) -> String {
    let mut table = std::mem::replace(rows, table());
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    if table.is_empty() { String::new() } else { lines(&table) }
}

/// What is said of a tool in one line.
fn described(seen: &ShownView<'_>, row: &ViewTool) -> (Style, String) {
    let text = [&row.tool.description, row.tool.title.as_deref().unwrap_or_default()];
    let text = text.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default();
    let first: String = text.trim().lines().next().unwrap_or_default().chars().take(160).collect();
    let (style, mark) = if !seen.is_available(row) {
        (DIM, "[unavailable] ")
    } else if seen.is_stale(row) {
        (Style::new(), "[stale] ")
    } else {
        (Style::new(), "")
    };
    (style, format!("{mark}{}", visible(&first)).trim_end().to_owned())
}

fn summary(seen: &ShownView<'_>, rows: &[&ViewTool]) -> String {
    let servers: BTreeSet<&ServerName> = rows.iter().map(|row| &row.tool.server).collect();
    let away = rows.iter().filter(|row| !seen.is_available(row)).count();
    let away = if away == 0 { String::new() } else { format!(", {away} unavailable") };
    format!("{} of {}{away}", plural(rows.len(), "tool"), plural(servers.len(), "server"))
}
