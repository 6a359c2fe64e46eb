//! `kitbag users`: who is known, where from, and which groups they belong to.

use std::collections::BTreeMap;

use kitbag::{Setup, UserId};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{DIM, cell, lines, table};

#[derive(Default)]
struct Known {
    groups: Vec<String>,
    from: Vec<String>,
}

pub(crate) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let users = known(&setup);
    if context.global.json {
        let row = |(user, known): (&UserId, &Known)| json!({"user": user.as_str(), "groups": known.groups, "from": known.from});
        context.print_json(&users.iter().map(row).collect::<Value>());
        return Ok(Exit::Done);
    }
    let mut rows = table();
    rows.set_header(["USER", "GROUPS", "FROM"]);
    for (user, known) in &users {
        let groups = if known.groups.is_empty() { "-".to_owned() } else { known.groups.join(", ") };
        rows.add_row([
            user.as_str().into(),
            visible(&groups).into(),
            cell(DIM, visible(&known.from.join(", "))),
        ]);
    }
    context.print(lines(&rows));
    Ok(Exit::Done)
}

fn known(setup: &Setup) -> BTreeMap<UserId, Known> {
    let mut users: BTreeMap<UserId, Known> = BTreeMap::new();
    let local = users.entry(UserId::local()).or_default();
    local.from.push("built in".to_owned());
    if setup.settings.iter().any(|(_, settings)| settings.groups.iter().any(|(group, _)| group == "local")) {
        local.groups.push("local".to_owned());
    }
    for (file, settings) in &setup.settings {
        for user in &settings.users {
            users.entry(user.clone()).or_default().from.push(file.display().to_string());
        }
        for (user, groups) in &settings.memberships {
            users
                .entry(user.clone())
                .or_default()
                .groups
                .extend(groups.iter().map(|group| group.value.clone()));
        }
    }
    for (user, folder) in kitbag::files::user_folders(&setup.folders.servers()) {
        users.entry(user).or_default().from.push(folder.display().to_string());
    }
    users
}
