//! The agent's program: found as a shell would find it, its launcher left out, its version known.

use crate::launch::Env;
use glis_agent::{Agent, Version};
use glis_core::refusal::ResumeFault;
use std::collections::HashMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Finds the program the way a shell would, with the environment that it will have.
pub(crate) fn find(name: &str, env: &Env, cwd: &Path) -> Result<PathBuf, ResumeFault> {
    let found = if name.contains('/') {
        Some(cwd.join(name)).filter(|path| runs(path))
    } else {
        let path =
            env.iter().find(|(key, _)| key == "PATH").map_or("", |(_, value)| value.as_str());
        path.split(':').map(|dir| Path::new(dir).join(name)).find(|path| runs(path))
    };
    found.ok_or_else(|| match Some(cwd.join(name)).filter(|path| path.is_file()) {
        Some(there) if name.contains('/') => ResumeFault::System(format!(
            "its program may not be executed ({}); `chmod +x` allows it",
            there.display()
        )),
        Some(_) | None => ResumeFault::NotInstalled(name.to_owned()),
    })
}

/// The program that does the work, where the one that was found only launches it.
pub(crate) fn native(agent: &dyn Agent, found: PathBuf) -> PathBuf {
    let real = found.canonicalize().unwrap_or_else(|_| found.clone());
    let natives = agent.natives(&real.to_string_lossy());
    natives.into_iter().map(PathBuf::from).find(|path| runs(path)).unwrap_or(found)
}

fn runs(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// What tells one state of a file from another.
type Stamp = (PathBuf, u64, i64);

/// The versions of programs that were asked for theirs. Asking takes longer than starting should.
#[derive(Default)]
pub(crate) struct Versions {
    known: Mutex<HashMap<Stamp, Option<Version>>>,
}

impl Versions {
    /// Refuses a version that cannot work; says so if one is newer than any that was tried.
    pub(crate) fn judge(
        &self,
        agent: &dyn Agent,
        program: &Path,
    ) -> Result<Option<String>, ResumeFault> {
        let Some(range) = agent.versions() else { return Ok(None) };
        let Some(version) = self.of(program) else { return Ok(None) };
        let shown = |(a, b, c): Version| format!("{a}.{b}.{c}");
        let at = program.display();
        if version < range.oldest || range.bad.contains(&version) {
            return Err(ResumeFault::WrongVersion(format!(
                "{at} is {}; {} or newer is needed",
                shown(version),
                shown(range.oldest)
            )));
        }
        let newer = version > range.tried;
        Ok(newer.then(|| {
            let (is, tried) = (shown(version), shown(range.tried));
            format!("{at} is version {is}; up to {tried} was tried")
        }))
    }

    fn of(&self, program: &Path) -> Option<Version> {
        let facts = program.metadata().ok()?;
        let stamp = (program.to_owned(), facts.len(), facts.mtime());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = known().get(&stamp) {
            return *version;
        }
        let version = packaged(program).or_else(|| asked(program));
        known().insert(stamp, version);
        version
    }
}

/// A package says its version in a file beside the program, which costs nothing to read.
fn packaged(program: &Path) -> Option<Version> {
    let real = program.canonicalize().ok()?;
    let mut package = real.ancestors().skip(1).take(5).map(|dir| dir.join("package.json"));
    let text = package.find_map(|path| std::fs::read(path).ok())?;
    let fields: serde_json::Value = serde_json::from_slice(&text).ok()?;
    version_in(fields.get("version")?.as_str()?)
}

#[expect(clippy::disallowed_methods, reason = "a question to a program, without a directory")]
fn asked(program: &Path) -> Option<Version> {
    let output = Command::new("timeout")
        .arg("10")
        .arg(program)
        .arg("--version")
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    version_in(&String::from_utf8_lossy(&output.ok()?.stdout))
}

/// The first three numbers with dots between them.
fn version_in(text: &str) -> Option<Version> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
        let mut numbers = word.split('.').map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(a)), Some(Ok(b)), Some(Ok(c))) => Some((a, b, c)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        assert_eq!(version_in("2.1.325 (Claude Code)\n"), Some((2, 1, 325)));
        assert_eq!(version_in("codex-cli 0.166.0\n"), Some((0, 166, 0)));
        assert_eq!(version_in("0.166.0-linux-x64"), Some((0, 166, 0)));
        assert_eq!(version_in("no version 1.2 here"), None);
    }
}
