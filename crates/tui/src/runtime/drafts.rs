//! What was typed and not sent, kept over restarts.

use glis_wire::home::Home;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

fn file(home: &Home) -> PathBuf {
    home.state.join("drafts.json")
}

/// The drafts by session. A file that cannot be read is no reason not to begin.
pub(super) fn read(home: &Home) -> BTreeMap<String, String> {
    let text = fs::read_to_string(file(home)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Keeps them: written beside and renamed, so that a crash leaves the former or the new ones.
pub(super) fn keep(home: &Home, drafts: &BTreeMap<String, String>) -> io::Result<()> {
    let (file, beside) = (file(home), home.state.join(format!("drafts.{}", std::process::id())));
    let text = serde_json::to_string(drafts).map_err(io::Error::other)?;
    let mut options = fs::File::options();
    let mut out = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(beside, file)
}
