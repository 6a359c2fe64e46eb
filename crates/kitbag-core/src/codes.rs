//! The stable codes of errors: the words of [`FaultKind`](crate::FaultKind), of [`ErrorKind`](crate::ErrorKind) and of
//! the reasons why a server cannot be used. For each of them one row says what usually causes it and what to do;
//! `kitbag errors <code>` and `docs/errors/` are made from it.

mod calls;
mod config;
mod connect;
mod tools;

#[cfg(test)]
mod tests;

/// What a person needs to know about a code, beside its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePage {
    /// The code itself.
    pub code: &'static str,
    /// What usually causes it.
    pub cause: &'static str,
    /// What to do about it.
    pub fix: &'static str,
    /// A message that carries it.
    pub example: &'static str,
}

/// A command that was typed wrongly; the meaning of a code that belongs to no call, server or fault.
pub const USAGE: (&str, &str) = ("usage", "The command line cannot be read.");

/// A model that gave no answer, or none that could be used.
pub const MODEL: (&str, &str) = ("model", "The model gave no answer, or no model is configured.");

/// The pages of all codes: files and settings first, then servers, tools and calls.
pub fn all_codes() -> impl Iterator<Item = &'static CodePage> {
    [config::PAGES, connect::PAGES, tools::PAGES, calls::PAGES].into_iter().flatten()
}

/// The page of a code.
pub fn code_page(code: &str) -> Option<&'static CodePage> {
    all_codes().find(|page| page.code == code)
}

const fn page(code: &'static str, cause: &'static str, fix: &'static str, example: &'static str) -> CodePage {
    CodePage { code, cause, fix, example }
}
