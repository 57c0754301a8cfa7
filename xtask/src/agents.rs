//! The real agents: installed once into the user's cache, for all clones together.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use glis_stub_model::installed::{self, ALL, RealAgent};

use crate::belongings::Belongings;
use crate::tools::{self, Missing};

/// How the folder of an installation that is under way begins.
pub(crate) const UNFINISHED: &str = ".new-";

/// `cargo xtask agents`: installs what is missing and says where everything lies.
pub(crate) fn run() -> Result<ExitCode> {
    for missing in install()? {
        eprintln!("SKIPPED: {}: {}", missing.what, missing.why);
    }
    for agent in ALL {
        let program = agent.program().map(|program| program.display().to_string());
        let shown = program.unwrap_or_else(|| "not installed".to_owned());
        println!("{:>8} {:>8}  {shown}", agent.name, agent.version);
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs what is missing; returns what cannot be had here. An installation that was tried and
/// did not work is a failure: nothing is skipped for that.
pub(crate) fn install() -> Result<Vec<Missing>> {
    let absent = absent();
    if absent.is_empty() {
        return Ok(Vec::new());
    }
    let (known, unknown): (Vec<_>, Vec<_>) =
        absent.into_iter().partition(|agent| agent.program_in(Path::new("")).is_some());
    let mut missing: Vec<Missing> =
        unknown.iter().map(|agent| lacks(agent, "it has no program for this platform")).collect();
    if tools::find("npm").is_none() {
        missing.extend(known.iter().map(|agent| lacks(agent, "there is no npm here")));
        return Ok(missing);
    }
    let room = installed::folder().context("there is no HOME to install the agents below")?;
    fs::create_dir_all(&room).with_context(|| room.display().to_string())?;
    // Two runs at once would only fetch everything twice; the second one waits and finds it done.
    let lock = File::create(room.join("lock"))?;
    lock.lock()?;
    sweep(&room)?;
    let before = Belongings::look();
    let failures: Vec<String> = std::thread::scope(|scope| {
        let installs: Vec<_> = known
            .iter()
            .filter(|agent| agent.program().is_none())
            .map(|agent| (agent, scope.spawn(|| fetch(agent, &room))))
            .collect();
        let ends = installs.into_iter().map(|(agent, install)| match install.join() {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(format!("{}: {failure:#}", agent.package)),
            Err(_) => Some(format!("{}: the installation broke down", agent.package)),
        });
        ends.flatten().collect()
    });
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    let touched = before.differences(&Belongings::look());
    ensure!(
        touched.is_empty(),
        "the agents' own configuration changed meanwhile (does one of your agents run?): {}",
        touched.join(", ")
    );
    Ok(missing)
}

/// The names of the agents that are installed.
pub(crate) fn present() -> Vec<&'static str> {
    ALL.iter().filter(|agent| agent.program().is_some()).map(|agent| agent.name).collect()
}

fn absent() -> Vec<RealAgent> {
    ALL.iter().copied().filter(|agent| agent.program().is_none()).collect()
}

fn lacks(agent: &RealAgent, why: &str) -> Missing {
    let what = format!("tests on the real {}", agent.name);
    Missing { what, why: why.to_owned(), installable: false }
}

/// Installs one agent beside its place, asks it for its version, and only then gives it its name:
/// what has the name is whole.
///
/// By its exact version: left to choose, npm on an old Node takes an old agent without a word. So any npm will
/// do. Three of the agents are native programs, and Gemini CLI runs on the Node that is there; it starts on 24, too.
fn fetch(agent: &RealAgent, room: &Path) -> Result<()> {
    let wanted = format!("{}@{}", agent.package, agent.version);
    println!("installing: {wanted}");
    let beside = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(room)?;
    // A manifest of its own keeps npm from looking for one further up.
    fs::write(beside.path().join("package.json"), "{\"private\":true}\n")?;
    let home = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(room)?;
    let packages = [wanted.clone()];
    let output = npm(Path::new("npm"), &packages, beside.path(), home.path()).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "npm ended with {}\n{told}", output.status);
    let program = agent.program_in(beside.path()).context("no program for this platform")?;
    prove(agent, &program, beside.path())?;
    let place = agent.folder().context("there is no HOME to install the agents below")?;
    // Something without its program may have the name already: a folder that somebody emptied.
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::rename(beside.keep(), &place).with_context(|| place.display().to_string())?;
    println!("installed: {wanted}");
    Ok(())
}

/// The installation of packages, kept away from the user's own folders: packages bring programs
/// that run at once, and that of `OpenCode` makes itself at home where it thinks that home is. The
/// user's npmrc is read all the same, since it may name the registry.
pub(crate) fn npm(program: &Path, packages: &[String], folder: &Path, home: &Path) -> Command {
    let mut npm = Command::new(program);
    npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock"]).args(packages);
    npm.current_dir(folder).stdin(Stdio::null());
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG"] {
        npm.env_remove(name);
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let settings = variable("npm_config_userconfig").or_else(|| variable("NPM_CONFIG_USERCONFIG"));
    let usual = || variable("HOME").map(|home| Path::new(&home).join(".npmrc").into_os_string());
    if let Some(settings) = settings.or_else(usual) {
        npm.env("npm_config_userconfig", settings);
    }
    npm.env("HOME", home).env("npm_config_cache", home.join("npm"));
    for (name, below) in HOMES {
        npm.env(name, home.join(below));
    }
    npm
}

/// Where a program looks for its user's folders before it asks for the home itself.
const HOMES: [(&str, &str); 5] = [
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_RUNTIME_DIR", "runtime"),
];

/// Removes what an installation left behind that was killed; nobody else is at work under the lock.
pub(crate) fn sweep(room: &Path) -> Result<()> {
    for entry in fs::read_dir(room)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Asks the program for its version, in a home of its own: some agents write there even then.
fn prove(agent: &RealAgent, program: &Path, folder: &Path) -> Result<()> {
    let home = tempfile::tempdir_in(folder)?;
    let mut ask = Command::new(program);
    ask.arg("--version").stdin(Stdio::null()).current_dir(home.path());
    ask.env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = ask.output().with_context(|| program.display().to_string())?;
    let told = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && told.contains(agent.version),
        "asked for its version, {} says `{}` and ends with {}",
        program.display(),
        told.trim(),
        output.status
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// As the installer of an agent that settles wherever it finds a folder of the user's.
    const GREEDY: &str = "#!/bin/sh\nset -e\n\
        for folder in \"$HOME\" \"$HOME/.config\" \"$XDG_CONFIG_HOME\" \"$XDG_DATA_HOME\" \
        \"$XDG_STATE_HOME\" \"$XDG_CACHE_HOME\" \"$XDG_RUNTIME_DIR\" \"$npm_config_cache\"; do\n\
        mkdir -p \"$folder/greedy\"; echo \"$folder/greedy\"; done\n\
        echo \"user:$npm_config_userconfig\"\n";

    #[test]
    fn an_installer_finds_no_folder_of_the_users() {
        let yard = tempfile::tempdir().unwrap();
        let (script, home) = (yard.path().join("npm"), yard.path().join("home"));
        fs::write(&script, GREEDY).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(&home).unwrap();
        let output = npm(&script, &["greedy@1".to_owned()], yard.path(), &home).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{told}");
        let (settings, written): (Vec<&str>, Vec<&str>) =
            told.lines().partition(|line| line.starts_with("user:"));
        assert_eq!(written.len(), 8, "{told}");
        assert!(written.iter().all(|folder| Path::new(folder).starts_with(&home)), "{told}");
        // The user's settings are read where they are; no installer is led there by its home.
        assert!(!settings[0].contains(&*home.to_string_lossy()), "{told}");
    }
}
