//! Which model is used: what is said closest to the question counts, and at last whichever key is set.

use kitbag::{Env, Limits, Secret};

use super::http::HttpModel;
use super::{ModelAt, ModelError, ModelId, Vendor};

#[cfg(test)]
mod tests;

/// What people write about the model to use; `<provider>/<name>` each.
#[derive(Clone, Debug, Default)]
pub struct ModelChoice {
    /// On the command line, or in code.
    pub flag: Option<String>,
    /// In the agent's table of `kitbag.toml`; comes after the variable `KITBAG_MODEL`.
    pub agent: Option<String>,
}

/// The model that is asked for: by the flag, by `KITBAG_MODEL`, by the agent's settings, or by whichever key or name of a
/// provider is set. Nothing is connected.
pub fn choose(choice: &ModelChoice, env: &Env, limits: &Limits) -> Result<HttpModel, ModelError> {
    let id = named(choice, env)?;
    let row = id.vendor.row();
    let key = row.key_from.iter().find_map(|name| env.filled(name));
    let base = row.base_from.iter().find_map(|name| env.filled(name));
    let base_variable = row.base_from[0];
    if let (None, None, Some(variable)) = (key, base, row.key_from.first()) {
        let at = ModelAt { model: id, host: row.base.to_owned() };
        return Err(ModelError::NoKey { at, variable });
    }
    let key = key.map(|key| Secret::new(key.trim()));
    let base = base.unwrap_or(row.base).trim().trim_end_matches('/');
    let base = row.below.iter().find_map(|below| base.strip_suffix(below)).unwrap_or(base);
    HttpModel::new(id.clone(), base, key, env, limits).map_err(|why| ModelError::BadSetting {
        model: id,
        why,
        variable: base_variable,
    })
}

fn named(choice: &ModelChoice, env: &Env) -> Result<ModelId, ModelError> {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let written = filled(&choice.flag).map(|text| (text, "--model"));
    let written = written.or_else(|| Some((env.filled("KITBAG_MODEL")?.to_owned(), "KITBAG_MODEL")));
    let written = written.or_else(|| Some((filled(&choice.agent)?, "model in kitbag.toml")));
    match written {
        Some((text, place)) => parse(text.trim(), place, env),
        None => by_what_is_set(env),
    }
}

/// `<provider>/<name>`; the name may have a `/` in it. A provider alone means the model its variable names.
fn parse(text: &str, place: &str, env: &Env) -> Result<ModelId, ModelError> {
    let (vendor, name) = text.split_once('/').unwrap_or((text, ""));
    let Some(vendor) = Vendor::parse(vendor) else {
        let near = Vendor::near(vendor).map(|near| format!("; did you mean {near}/{name}?"));
        let given = text.chars().take(80).collect();
        return Err(ModelError::BadName { given, place: place.to_owned(), hint: near.unwrap_or_default() });
    };
    match name.trim() {
        "" => usual(vendor, env),
        name => Ok(ModelId { vendor, name: name.to_owned() }),
    }
}

fn by_what_is_set(env: &Env) -> Result<ModelId, ModelError> {
    let is_set = |vendor: &Vendor| {
        let row = vendor.row();
        let mut says = row.key_from.iter().chain(row.base_from).chain(row.model_from);
        says.any(|name| env.filled(name).is_some())
    };
    let vendor = Vendor::ALL.into_iter().find(is_set).ok_or(ModelError::NoModel)?;
    usual(vendor, env)
}

/// The model that a provider's variable names, or its usual one at its own address.
fn usual(vendor: Vendor, env: &Env) -> Result<ModelId, ModelError> {
    let row = vendor.row();
    let is_elsewhere = row.base_from.iter().any(|name| env.filled(name).is_some());
    let named = row.model_from.iter().find_map(|name| env.filled(name));
    let name = named.or(row.usual.filter(|_| !is_elsewhere));
    let name = name.ok_or(ModelError::NoName { vendor, variable: row.model_from[0] })?;
    Ok(ModelId { vendor, name: name.trim().to_owned() })
}
