//! Other names for properties whose own a provider refuses: one table for a whole tool, so that a name means
//! the same wherever it stands.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::facts::Facts;
use super::rewrite::Keys;
use crate::names::hex;
use crate::schema::tree::schemas;

/// The longest name of a property that a provider takes.
pub(super) const LONGEST: usize = 64;

/// Own names and those shown for them. Injective, and no shown one is another property's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Renames(Vec<(String, String)>);

impl Renames {
    pub(super) fn new(schema: &Value, facts: &Facts<'_>, keys: Keys) -> Self {
        if facts.unfit_keys.is_empty() {
            return Self::default();
        }
        // Every name that stands where names of properties may stand.
        let all = schema.as_object().into_iter().flat_map(schemas);
        let tables = all.filter_map(|object| object.get("properties")?.as_object());
        let mut taken: BTreeSet<String> = tables.flat_map(|table| table.keys().cloned()).collect();
        let mut unfit = facts.unfit_keys.clone();
        unfit.sort_unstable();
        unfit.dedup();
        let mut pairs = Vec::with_capacity(unfit.len());
        for own in unfit {
            let plain = plain(own, keys);
            let free = !taken.contains(&plain) && keys.take(&plain);
            let shown = if free { plain } else { hashed(&plain, own, &taken) };
            taken.insert(shown.clone());
            pairs.push((own.to_owned(), shown));
        }
        Self(pairs)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is worth knowing about it.
    pub(super) fn note(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.0.iter().take(8).map(|(own, shown)| format!("{own:?} is {shown}")).collect();
        let more = if pairs.len() < self.0.len() { ", …" } else { "" };
        (!pairs.is_empty())
            .then(|| format!("some of its arguments are shown by other names: {}{more}", pairs.join(", ")))
    }

    /// What a model is shown for a name.
    pub(super) fn shown<'a>(&'a self, own: &'a str) -> &'a str {
        let found = self.0.binary_search_by(|(name, _)| name.as_str().cmp(own)).ok();
        found.and_then(|at| self.0.get(at)).map_or(own, |(_, shown)| shown)
    }

    /// The name a model was shown another for.
    pub(super) fn own(&self, shown: &str) -> Option<&str> {
        self.0.iter().find(|(_, name)| name == shown).map(|(own, _)| own.as_str())
    }
}

/// The name with every character that will not do replaced.
fn plain(own: &str, keys: Keys) -> String {
    let mut plain = String::with_capacity(own.len());
    for c in own.chars() {
        plain.push(if keys.take_inside(c) { c } else { '_' });
    }
    if !keys.take_first(plain.chars().next()) {
        plain.insert(0, '_');
    }
    plain
}

fn hashed(plain: &str, own: &str, taken: &BTreeSet<String>) -> String {
    let digest = hex(&Sha256::digest(own.as_bytes()));
    let head: String = plain.chars().take(LONGEST - 9).collect();
    let short = format!("{head}_{}", &digest[..8]);
    if !taken.contains(&short) {
        return short;
    }
    // Somebody has a property of that very name; the whole hash is nobody's.
    digest[..LONGEST - 2].chars().fold("k_".to_owned(), |mut name, c| {
        name.push(c);
        name
    })
}
