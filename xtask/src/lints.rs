//! Lints beside clippy: spelling, dependencies that nothing uses, and what licences and sources the others have.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools::{self, Missing};

/// A program that looks over the workspace.
struct Lint {
    program: &'static str,
    words: &'static [&'static str],
    /// What fetches it, into the folder that is named last; nothing where building it costs more than all that it
    /// would find here.
    fetch: Option<&'static [&'static str]>,
}

const LINTS: [Lint; 3] = [
    Lint {
        program: "typos",
        words: &[],
        fetch: Some(&["python3", "-m", "pip", "install", "--quiet", "typos==1.51.1", "--target"]),
    },
    Lint {
        program: "cargo-machete",
        words: &[],
        fetch: Some(&[
            "cargo",
            "install",
            "--quiet",
            "--debug",
            "cargo-machete",
            "--version",
            "0.9.2",
            "--root",
        ]),
    },
    // Advisories need a database from the network.
    Lint {
        program: "cargo-deny",
        words: &["--offline", "check", "licenses", "bans", "sources"],
        fetch: None,
    },
];

/// Runs those that are here or can be fetched: what is missing, or what the first that finds something says.
pub(crate) fn run(root: &Path) -> Result<Vec<Missing>, String> {
    let mut missing = Vec::new();
    for lint in LINTS {
        let Some(program) = found(&lint) else {
            let why = match lint.fetch {
                Some(words) => format!("`{}` did not install it", words.join(" ")),
                None => "it is not installed; `cargo install cargo-deny` takes minutes".to_owned(),
            };
            let (what, installable) = (format!("the lint {}", lint.program), lint.fetch.is_some());
            missing.push(Missing { what, why, installable });
            continue;
        };
        let status = Command::new(program).args(lint.words).current_dir(root).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("{} has found something, see above", lint.program));
        }
    }
    Ok(missing)
}

/// Where it is: on the path, or in the user's cache, where it is fetched to.
fn found(lint: &Lint) -> Option<PathBuf> {
    if let Some(program) = tools::find(lint.program) {
        return Some(program);
    }
    let folder = glis_stub_model::installed::folder()?.parent()?.join("lints");
    let program = folder.join("bin").join(lint.program);
    if !program.is_file()
        && let Some((first, words)) = lint.fetch?.split_first()
    {
        println!("installing: {}", lint.program);
        let mut fetch = Command::new(first);
        fetch.args(words).arg(&folder).stdin(Stdio::null());
        fetch.status().ok()?;
    }
    program.is_file().then_some(program)
}
