//! Definitions that are none, between good ones.

use std::sync::Arc;

use serde_json::Value;

use super::Entry;
use super::catalog::{Catalog, Listed};

pub(super) const FAULTS: &[Entry] = &[Entry {
    label: "c06",
    modes: &[],
    about: "broken definitions between `first`, `middle` and `last`, which are good; any named one can be called",
    make: |_| Arc::new(Catalog::new(definitions())),
}];

/// `'` stands for `"`.
const BEFORE: &[&str] = &[
    "null",
    "42",
    "'just a text'",
    "[]",
    "{}",
    "{'description':'No name','inputSchema':{'type':'object'}}",
    "{'name':17,'description':'The name is a number','inputSchema':{'type':'object'}}",
    "{'name':null,'inputSchema':{'type':'object'}}",
    "{'name':'','description':'The name is empty','inputSchema':{'type':'object'}}",
    "{'name':'about_number','description':42,'inputSchema':{'type':'object'}}",
    "{'name':'about_null','description':null,'inputSchema':{'type':'object'}}",
    "{'name':'title_list','title':['x'],'description':'The title is a list','inputSchema':{'type':'object'}}",
    "{'name':'schema_missing','description':'No schema'}",
    "{'name':'schema_null','description':'The schema is null','inputSchema':null}",
    "{'name':'schema_text','description':'The schema is a text','inputSchema':'object'}",
    "{'name':'schema_list','description':'The schema is a list','inputSchema':[]}",
];

const AFTER: &[&str] = &[
    "{'name':'schema_of_text','description':'Not an object','inputSchema':{'type':'string'}}",
    "{'name':'schema_untyped','description':'No type','inputSchema':{'properties':{'a':{'type':'string'}}}}",
    "{'name':'properties_list','description':'No map','inputSchema':{'type':'object','properties':[]}}",
    "{'name':'property_number','description':'No schema','inputSchema':{'type':'object','properties':{'a':7}}}",
    "{'name':'required_text','description':'No list','inputSchema':{'type':'object','required':'a'}}",
    "{'name':'type_unknown','description':'No such type','inputSchema':{'type':'object','properties':\
      {'a':{'type':'strnig'}}}}",
    "{'name':'twice','description':'The first of two','inputSchema':{'type':'object'}}",
    "{'name':'twice','description':'The second of two','inputSchema':{'type':'object'}}",
    "{'name':'hints_list','description':'No map','annotations':['readOnlyHint'],'inputSchema':{'type':'object'}}",
    "{'name':'hints_text','description':'No flag','annotations':{'readOnlyHint':'yes'},\
      'inputSchema':{'type':'object'}}",
    "{'name':'output_garbage','description':'No schema','outputSchema':'?!','inputSchema':{'type':'object'}}",
    "{'name':'output_list','description':'No object','outputSchema':{'type':'array'},\
      'inputSchema':{'type':'object'}}",
];

fn definitions() -> impl Iterator<Item = Listed> {
    let long = Listed::plain(&"long_name_".repeat(20));
    let good = |name: &str| [Listed::plain(name)];
    let broken = |rows: &'static [&'static str]| rows.iter().map(|row| listed(row));
    good("first")
        .into_iter()
        .chain(broken(BEFORE))
        .chain([long])
        .chain(good("middle"))
        .chain(broken(AFTER))
        .chain(good("last"))
}

fn listed(row: &str) -> Listed {
    let definition = row.replace('\'', "\"");
    let parsed: Value = serde_json::from_str(&definition).unwrap_or_default();
    Listed { name: parsed["name"].as_str().unwrap_or_default().to_owned(), definition }
}
