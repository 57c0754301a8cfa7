//! What drives the browser of the page's tests: installed once into the user's cache, for all clones together.

use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use glis_stub_model::browser::{self, PACKAGES};

use crate::agents::{UNFINISHED, npm, sweep};
use crate::tools::{self, Missing};

/// `cargo xtask browser`: installs what is missing and says where everything lies.
pub(crate) fn run() -> Result<ExitCode> {
    for missing in tools::install().into_iter().chain(install()?) {
        eprintln!("SKIPPED: {}: {}", missing.what, missing.why);
    }
    for (what, place) in [("browser", browser::program()), ("modules", browser::modules())] {
        let shown = place.map(|place| place.display().to_string());
        println!("{what:>8}  {}", shown.unwrap_or_else(|| "not installed".to_owned()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs what is missing; returns what cannot be had here. An installation that was tried and did not
/// work is a failure: nothing is skipped for that.
pub(crate) fn install() -> Result<Option<Missing>> {
    if browser::modules().is_some() {
        return Ok(None);
    }
    if tools::find("npm").is_none() {
        let (what, why) = ("tests in a browser".to_owned(), "there is no npm here".to_owned());
        return Ok(Some(Missing { what, why, installable: false }));
    }
    let place = browser::folder().context("there is no HOME to install modules below")?;
    let room = place.parent().context("no folder for the modules")?;
    fs::create_dir_all(room).with_context(|| room.display().to_string())?;
    // Two runs at once would only fetch everything twice; the second one waits and finds it done.
    let lock = File::create(room.join("lock"))?;
    lock.lock()?;
    sweep(room)?;
    if browser::modules().is_none() {
        fetch(&place, room)?;
    }
    Ok(None)
}

/// Installs the packages beside their place, and only then gives them its name: what has the name is whole.
fn fetch(place: &Path, room: &Path) -> Result<()> {
    let wanted = PACKAGES.map(|(name, version)| format!("{name}@{version}"));
    println!("installing: {}", wanted.join(" "));
    let beside = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(room)?;
    // A manifest of its own keeps npm from looking for one further up.
    fs::write(beside.path().join("package.json"), "{\"private\":true}\n")?;
    let home = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(room)?;
    let output = npm(Path::new("npm"), &wanted, beside.path(), home.path()).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "npm ended with {}\n{told}", output.status);
    // Something that is not whole may have the name already: a folder that somebody emptied.
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::rename(beside.keep(), place).with_context(|| place.display().to_string())?;
    ensure!(browser::modules().is_some(), "npm has not installed all of {}", wanted.join(" "));
    Ok(())
}
