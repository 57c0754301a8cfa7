//! A text in the user's own editor, `$VISUAL` or `$EDITOR`.

use crate::message::Told;
use glis_wire::home::Home;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

/// Without a wish of the user's: it is everywhere.
const USUAL: &str = "vi";

/// Has the editor change a text, and returns it. The terminal must be the editor's meanwhile.
pub(super) fn edit(home: &Home, text: &str) -> Result<String, Told> {
    let file = home.state.join(format!("edited.{}.md", std::process::id()));
    let edited = edit_at(&file, text);
    // The text is in memory, or was not changed.
    drop(fs::remove_file(&file));
    edited
}

fn edit_at(file: &Path, text: &str) -> Result<String, Told> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| USUAL.to_owned());
    let failed = |fault: io::Error| told(format!("{editor}: {fault}"));
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut out = options.open(file).map_err(failed)?;
    out.write_all(text.as_bytes()).map_err(failed)?;
    drop(out);
    // An interrupt is for the editor, and not for us who wait for it.
    let _ending = glis_tty::Ending::catch().map_err(failed)?;
    // The variable is a line for a shell, with options and quotes.
    let line = format!("{editor} \"$1\"");
    let status = Command::new("sh").args(["-c", &line, "glis"]).arg(file).status();
    if !status.map_err(failed)?.success() {
        return Err(told(format!("`{editor}` failed: the text is as it was")));
    }
    fs::read_to_string(file).map_err(failed)
}

fn told(message: String) -> Told {
    Told { message, hint: Some("set EDITOR to the editor that you want".to_owned()) }
}
