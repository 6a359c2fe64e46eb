//! Looking things up in the order they stand in: one walk through a map instead of a search for each name.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::iter::Peekable;

use kitbag_core::ServerName;

/// A walk through a map by names that come in order, as a rule.
pub(crate) struct InOrder<'a, T> {
    map: &'a BTreeMap<ServerName, T>,
    walk: Peekable<Iter<'a, ServerName, T>>,
}

impl<'a, T> InOrder<'a, T> {
    pub(crate) fn new(map: &'a BTreeMap<ServerName, T>) -> Self {
        Self { map, walk: map.iter().peekable() }
    }

    /// What stands under a name.
    pub(crate) fn get(&mut self, name: &ServerName) -> Option<&'a T> {
        while let Some((known, value)) = self.walk.peek() {
            match (*known).cmp(name) {
                Ordering::Less => drop(self.walk.next()),
                Ordering::Equal => return Some(value),
                Ordering::Greater => break,
            }
        }
        // Not there, or out of order.
        self.map.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_order() {
        let name = |text: &str| ServerName::parse(text).unwrap();
        let map: BTreeMap<ServerName, u8> = [("b", 1), ("d", 2), ("f", 3)].map(|(n, v)| (name(n), v)).into();
        let mut walk = InOrder::new(&map);
        let mut check =
            |text: &str, wanted: Option<u8>| assert_eq!(walk.get(&name(text)).copied(), wanted, "{text}");
        check("a", None);
        check("b", Some(1));
        check("b", Some(1));
        check("c", None);
        check("f", Some(3));
        check("d", Some(2));
        check("g", None);
        check("b", Some(1));
        check("f", Some(3));
    }
}
