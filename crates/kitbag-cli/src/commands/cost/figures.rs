//! The table of costs: as wide as its figures, whatever servers and tools are called.

use kitbag_core::text::visible;

use super::{ESTIMATE, Row};
use crate::present::Form;
use crate::terminal::width;

/// Between two columns.
const GAP: &str = "  ";

/// What a line counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Server,
    Tool,
}

/// Names beside figures; a name that does not fit on the terminal with them stands on a line of its own above.
pub(super) fn as_table(rows: &[Row], forms: &[Form], by: By) -> String {
    let servers =
        rows.iter().filter_map(|row| row.server.as_ref()).map(|name| visible(name.as_str()).chars().count());
    let server = servers.max().unwrap_or_default().max(SERVER.len());
    let label = |row: &Row| match (&row.server, &row.tool) {
        (Some(name), Some(tool)) => format!("{:server$}{GAP}{}", visible(name.as_str()), visible(tool)),
        (Some(name), None) => visible(name.as_str()),
        (None, _) => String::new(),
    };
    let labels: Vec<String> = rows.iter().map(label).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(|row| figures(row, by)).collect();
    let title = if by == By::Tool { format!("{SERVER:server$}{GAP}TOOL") } else { SERVER.to_owned() };
    let titles: Vec<String> =
        (by == By::Server).then(|| "TOOLS".to_owned()).into_iter().chain(forms.iter().map(heading)).collect();
    let wide: Vec<usize> = (0..titles.len())
        .map(|at| cells.iter().map(|row| row[at].len()).chain([titles[at].len()]).max().unwrap_or_default())
        .collect();
    let taken: usize = wide.iter().map(|width| width + GAP.len()).sum();
    let room = width().map_or(usize::MAX, |width| width.saturating_sub(taken + GAP.len()));
    let fitting =
        labels.iter().chain([&title]).map(|label| label.chars().count()).filter(|count| *count <= room);
    let names = fitting.max().unwrap_or_default();
    let figures = |cells: &[String]| -> String {
        cells.iter().zip(&wide).map(|(cell, width)| format!("{GAP}{cell:>width$}")).collect()
    };
    let mut text = line(&title, names, &figures(&titles));
    for ((row, label), cells) in rows.iter().zip(&labels).zip(&cells) {
        text += &match row.server {
            Some(_) => line(label, names, &figures(cells)),
            None => total(row, names, &figures(cells), by),
        };
    }
    text
}

const SERVER: &str = "SERVER";

fn heading(form: &Form) -> String {
    let name = form.to_string();
    let mark = if form.is_estimated() { ESTIMATE } else { "" };
    format!("{}{mark}", name.strip_prefix("native:").unwrap_or(&name).to_uppercase())
}

/// How many tools, and what they cost in each form.
fn figures(row: &Row, by: By) -> Vec<String> {
    let tools = (by == By::Server).then(|| row.tools.to_string());
    tools.into_iter().chain(row.tokens.iter().map(usize::to_string)).collect()
}

fn line(label: &str, names: usize, figures: &str) -> String {
    if label.chars().count() <= names {
        format!("{GAP}{label:names$}{figures}\n")
    } else {
        format!("{GAP}{label}\n{GAP}{:names$}{figures}\n", "")
    }
}

/// The last line. A name is never empty, so the line without one is the total.
fn total(row: &Row, names: usize, figures: &str, by: By) -> String {
    let words = format!("{} in all", row.tools);
    if by == By::Tool {
        return format!("{GAP}{words:>names$}{figures}\n");
    }
    // The number stands among the figures already; its words reach into the room of the names.
    let count = row.tools.to_string();
    let rest = figures.trim_start().strip_prefix(&count).unwrap_or_default();
    let before = names + figures.len() - rest.len();
    format!("{GAP}{words:>before$}{rest}\n")
}
