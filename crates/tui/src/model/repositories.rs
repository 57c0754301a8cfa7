//! The repositories that something can be begun in.

use super::{Model, folder_of};
use std::collections::BTreeSet;

/// Those that are known here, and how a user's own folder is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Repositories {
    known: Vec<String>,
    home: Option<String>,
}

impl Repositories {
    /// The one that is meant: by the name of its folder, or by its path.
    pub(crate) fn named(&self, text: &str) -> Result<String, String> {
        let own = |rest: &str| self.home.as_ref().map(|home| format!("{home}/{rest}"));
        let path = text.strip_prefix("~/").and_then(own).unwrap_or_else(|| text.to_owned());
        if path.starts_with('/') {
            return Ok(path.trim_end_matches('/').to_owned());
        }
        let mut all = self.known.iter().filter(|repo| folder_of(repo) == text);
        match (all.next(), all.next()) {
            (Some(repo), None) => Ok(repo.clone()),
            (Some(_), Some(_)) => Err(format!("several are called {text}: a path tells which")),
            (None, _) => Err(format!("no repository `{text}` is known here: a path begins with /")),
        }
    }

    /// What can be typed in place of this one.
    pub(crate) fn beside(&self, repo: &str) -> String {
        let own = folder_of(repo);
        let others = self.known.iter().map(|known| folder_of(known)).filter(|known| *known != own);
        let others: Vec<&str> = others.collect();
        if others.is_empty() {
            return format!("{own}; or a path");
        }
        format!("{own}; or {}, or a path", others.join(", "))
    }
}

impl Model {
    /// Those of the sessions, and the one that we were started in.
    pub(crate) fn repositories(&self) -> Repositories {
        let of_sessions = self.rows.all.values().map(|session| &session.repo_root);
        let known: BTreeSet<&String> = of_sessions.chain(&self.folders.here).collect();
        let known = known.into_iter().cloned().collect();
        Repositories { known, home: self.folders.home.clone() }
    }
}
