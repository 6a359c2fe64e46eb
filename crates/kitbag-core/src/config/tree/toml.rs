//! TOML.

use toml_edit::{Document, Item, Table, Value};

use super::{Budget, KeyValue, Node, Position, Tree, too_large};
use crate::config::source::Source;
use crate::fault::{Fault, FaultKind};
use crate::model::Limits;

pub(super) fn parse(source: &Source<'_>, limits: &Limits) -> Result<Node, Box<Fault>> {
    let document = Document::parse(source.text()).map_err(|error| {
        let at = source.position(error.span().map_or(0, |span| span.start));
        let message =
            error.message().lines().next().unwrap_or("syntax error").trim_end_matches('.').to_owned();
        let fault = Fault::error(FaultKind::Syntax, format!("not valid TOML: {message}"));
        let fault = if message.contains("string") || message.contains("quot") {
            fault.hint("strings are written in double quotes")
        } else {
            fault
        };
        Box::new(source.mark(fault, at))
    })?;
    let mut reader = Reader { source, budget: Budget::new(limits) };
    let tree = reader.table(document.as_table(), 0)?;
    Ok(Node { at: Position { line: 1, column: 1 }, tree })
}

struct Reader<'a> {
    source: &'a Source<'a>,
    budget: Budget<'a>,
}

impl Reader<'_> {
    fn at(&self, span: Option<std::ops::Range<usize>>) -> Position {
        self.source.position(span.map_or(0, |span| span.start))
    }

    fn spend(&mut self, at: Position, depth: usize) -> Result<(), Box<Fault>> {
        self.budget.spend(1, depth).map_err(|message| too_large(self.source, at, message))
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<Tree, Box<Fault>> {
        let mut pairs = Vec::with_capacity(table.len());
        for (name, item) in table.iter() {
            let at = self.at(table.key(name).and_then(|key| key.span()).or_else(|| item.span()));
            pairs.push(KeyValue { key: name.to_owned(), at, value: self.item(item, at, depth + 1)? });
        }
        Ok(Tree::Map(pairs))
    }

    fn item(&mut self, item: &Item, key: Position, depth: usize) -> Result<Node, Box<Fault>> {
        if let Item::Value(value) = item {
            return self.value(value, depth);
        }
        let at = item.span().map_or(key, |span| self.at(Some(span)));
        self.spend(at, depth)?;
        let tree = match item {
            Item::None | Item::Value(_) => Tree::Null,
            Item::Table(table) => self.table(table, depth)?,
            Item::ArrayOfTables(tables) => {
                let mut nodes = Vec::with_capacity(tables.len());
                for table in tables {
                    let at = self.at(table.span());
                    self.spend(at, depth + 1)?;
                    nodes.push(Node { at, tree: self.table(table, depth + 1)? });
                }
                Tree::List(nodes)
            }
        };
        Ok(Node { at, tree })
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<Node, Box<Fault>> {
        let at = self.at(value.span());
        self.spend(at, depth)?;
        let tree = match value {
            Value::String(text) => Tree::Text(text.value().clone()),
            Value::Integer(number) => Tree::Number(number.value().to_string()),
            Value::Float(number) => Tree::Number(number.value().to_string()),
            Value::Boolean(value) => Tree::Bool(*value.value()),
            Value::Datetime(time) => Tree::Text(time.value().to_string()),
            Value::Array(array) => {
                let nodes = array.iter().map(|value| self.value(value, depth + 1));
                Tree::List(nodes.collect::<Result<_, _>>()?)
            }
            Value::InlineTable(table) => {
                let mut pairs = Vec::with_capacity(table.len());
                for (name, value) in table.iter() {
                    let at = self.at(table.key(name).and_then(|key| key.span()).or_else(|| value.span()));
                    pairs.push(KeyValue { key: name.to_owned(), at, value: self.value(value, depth + 1)? });
                }
                Tree::Map(pairs)
            }
        };
        Ok(Node { at, tree })
    }
}
