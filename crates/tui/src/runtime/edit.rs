//! A text in the user's own editor, `$VISUAL` or `$EDITOR`.

use crate::message::Told;
use glis_wire::home::Home;
use std::fs;
use std::io;
use std::path::Path;

/// Has the editor change a text, and returns it. The terminal must be the editor's meanwhile.
pub(super) fn edit(home: &Home, text: &str) -> Result<String, Told> {
    let file = home.state.join(format!("edited.{}.md", std::process::id()));
    let edited = edit_at(&file, text);
    // The text is in memory, or was not changed.
    drop(fs::remove_file(&file));
    edited
}

fn edit_at(file: &Path, text: &str) -> Result<String, Told> {
    let failed = |fault: io::Error| told(fault.to_string());
    glis_verbs::file::keep(file, text).map_err(failed)?;
    glis_tty::edit(file).map_err(failed)?;
    fs::read_to_string(file).map_err(failed)
}

fn told(message: String) -> Told {
    Told { message, hint: Some("set EDITOR to the editor that you want".to_owned()) }
}
