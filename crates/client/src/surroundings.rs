//! What a process that is started for a call gets of its caller: environment and limits.

use glis_wire::hold::Limit;
use rustix::process::{Resource, getrlimit};

/// The caller's environment, as far as it is text.
pub(crate) fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What the system allows this process, and so whatever it starts.
pub(crate) fn limits() -> Vec<Limit> {
    let limit = |(name, resource): (&str, Resource)| {
        let limit = getrlimit(resource);
        Limit { name: name.to_owned(), soft: limit.current, hard: limit.maximum }
    };
    glis_wire::every_limit!(Resource).into_iter().map(limit).collect()
}
