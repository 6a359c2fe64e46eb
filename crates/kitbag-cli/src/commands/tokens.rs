//! `kitbag tokens`: who may come in from outside. A token is shown once, when it is made.

use std::time::{Duration, SystemTime};

use kitbag::store::{TokenEntry, TokenError};
use kitbag_server::NewToken;
use serde_json::{Value, json};

use crate::args::parse_time;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;
use crate::store::{open, refused, rfc3339_of};
use crate::terminal::{BAD, DIM, cell, lines, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a token for the user of --user and print it: it is shown this once
    Add {
        /// What to call it
        name: String,
        /// Let nobody in with it after this time, such as 30d
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        expires: Option<Duration>,
    },
    /// List the tokens of everybody, or of the user of --user
    List,
    /// Revoke a token by its name
    Revoke {
        /// What it is called
        name: String,
    },
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let store = open(&setup)?;
    let user = setup.user.clone();
    live::block_on(async {
        match args.action.as_ref().unwrap_or(&Action::List) {
            Action::Add { name, expires } => {
                let made = NewToken::random()
                    .map_err(|error| Failure::new(Exit::Bug, format!("no randomness: {error}")))?;
                let (user, name, hash, created) = (user.clone(), name.clone(), made.hash, SystemTime::now());
                let expires = expires.map(|after| until(created, after)).transpose()?;
                let entry = TokenEntry { user, name, hash, created, expires, used: None };
                store.add_token(&entry).await.map_err(|error| not_added(&error, &entry.name))?;
                print_new(context, &entry, &made);
            }
            Action::List => {
                // Whoever runs Kitbag without naming a user sees all of them.
                let tokens = match context.user()? {
                    Some(user) => store.tokens(&user).await,
                    None => store.all_tokens().await,
                };
                let tokens = tokens.map_err(|error| refused(&error))?;
                print_list(context, &tokens);
            }
            Action::Revoke { name } => {
                if !store.revoke_token(&user, name).await.map_err(|error| refused(&error))? {
                    let message = format!("{user} has no token called {name:?}");
                    return Err(Failure::new(Exit::NotFound, message).hint("kitbag tokens list"));
                }
                context.remark(format!("revoked {name:?} of {user}"));
            }
        }
        Ok(Exit::Done)
    })
}

fn not_added(error: &TokenError, name: &str) -> Failure {
    match error {
        TokenError::Store(error) => refused(error),
        error => Failure::new(Exit::Usage, format!("{name:?}: {error}"))
            .hint("kitbag tokens add NAME, another name"),
    }
}

/// When a token ends that is made now.
fn until(now: SystemTime, after: Duration) -> Result<SystemTime, Failure> {
    let most = Duration::from_secs(100 * 365 * 24 * 3600);
    let end = now.checked_add(after).filter(|_| after <= most);
    end.ok_or_else(|| Failure::new(Exit::Usage, "--expires is too far away").hint("leave it out: no end"))
}

fn print_new(context: &mut Context, entry: &TokenEntry, made: &NewToken) {
    let TokenEntry { user, name, .. } = entry;
    let expires = entry.expires.map(rfc3339_of);
    if context.global.json {
        let token = made.token.expose();
        let row = json!({"user": user.as_str(), "name": name, "expires": expires, "token": token});
        return context.print_json(&row);
    }
    context.print(format!("{}\n", made.token.expose()));
    let ends = expires.map(|expires| format!(", until {expires}")).unwrap_or_default();
    context.remark(format!("{name:?} of {user}{ends}; it is not shown again: Authorization: Bearer <token>"));
}

fn print_list(context: &mut Context, tokens: &[TokenEntry]) {
    if context.global.json {
        let row = |token: &TokenEntry| {
            let (expires, used) = (token.expires.map(rfc3339_of), token.used.map(rfc3339_of));
            let (user, created) = (token.user.as_str(), rfc3339_of(token.created));
            json!({"user": user, "name": token.name, "created": created, "expires": expires, "last_used": used})
        };
        return context.print_json(&tokens.iter().map(row).collect::<Value>());
    }
    let mut rows = table();
    rows.set_header(["USER", "NAME", "CREATED", "LAST USED", "EXPIRES"]);
    let now = SystemTime::now();
    let expires = |token: &TokenEntry| match token.expires {
        Some(_) if token.is_expired(now) => cell(BAD, "expired"),
        Some(time) => rfc3339_of(time).into(),
        None => cell(DIM, "-"),
    };
    for token in tokens {
        rows.add_row([
            token.user.as_str().into(),
            kitbag_core::text::visible(&token.name).into(),
            cell(DIM, rfc3339_of(token.created)),
            token.used.map_or_else(|| "never".to_owned(), rfc3339_of).into(),
            expires(token),
        ]);
    }
    context.print(lines(&rows));
}
