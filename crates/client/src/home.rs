//! Which house is meant.

use crate::fault::{Fault, HomeFault};
use glis_wire::home::{Home, VARIABLE};
use std::path::{Path, PathBuf};

/// Where this house is. A relative path would be another house in every folder, each with a daemon
/// and sessions that the others do not show.
pub fn find_home() -> Result<Home, Fault> {
    let set = std::env::var_os(VARIABLE);
    if set.as_ref().is_some_and(|value| value.to_str().is_none()) {
        return Err(Fault::Home(HomeFault::NotText));
    }
    if let Some(value) = set.filter(|value| !value.is_empty() && !Path::new(value).is_absolute()) {
        let meant = std::path::absolute(&value).unwrap_or_else(|_| PathBuf::from(&value));
        let value = value.to_string_lossy().into_owned();
        return Err(Fault::Home(HomeFault::Relative { value, meant }));
    }
    let found = Home::find(|name| std::env::var(name).ok());
    found.ok_or(Fault::Home(HomeFault::Unset))
}
