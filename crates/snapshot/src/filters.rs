//! Filters of files: programs that git runs when it writes a file. Those that the user has set up
//! run, as `git-lfs` does. Those that the repository's own settings name do not.

use crate::git::{GitFault, checked, git};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::process::Command;

const PROGRAMS: [&[u8]; 3] = [b"smudge", b"clean", b"process"];
const REQUIRED: &[u8] = b"required";

/// All settings of filters, by the filter's name and the setting's.
#[derive(Debug, Default)]
struct Settings {
    /// Those of the user, from the files of the user and of the system.
    own: BTreeMap<(Vec<u8>, Vec<u8>), Vec<u8>>,
    /// The names in the repository's own files.
    foreign: BTreeSet<(Vec<u8>, Vec<u8>)>,
}

/// Lets a call of git in `dir`, which has no verb yet, run no filter but the user's. A program that
/// the repository replaces is again the user's; one that the user has not is none.
pub(crate) fn only_of_the_user(call: &mut Command, dir: &Path) -> Result<(), GitFault> {
    let settings = Settings::read(dir)?;
    for (number, (name, setting, value)) in settings.corrections().into_iter().enumerate() {
        // In an argument `=` ends a name, and a filter's name may hold one.
        let variable = format!("GLIS_FILTER_{number}");
        let key = [b"--config-env=filter.", &name[..], b".", &setting, b"=", variable.as_bytes()];
        call.arg(OsString::from_vec(key.concat())).env(variable, OsString::from_vec(value));
    }
    Ok(())
}

impl Settings {
    fn read(dir: &Path) -> Result<Self, GitFault> {
        let mut call = git(dir);
        call.args(["config", "--show-scope", "-z", "--get-regexp", r"^filter\."]);
        let output = call.output().map_err(GitFault::NotRun)?;
        // So it says that there are none.
        if output.status.code() == Some(1) {
            return Ok(Self::default());
        }
        let said = checked(output, "config")?;
        let mut settings = Self::default();
        for pair in said.split(|byte| *byte == 0).collect::<Vec<_>>().chunks_exact(2) {
            settings.take(pair[0], pair[1]);
        }
        Ok(settings)
    }

    fn take(&mut self, scope: &[u8], line: &[u8]) {
        let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        let (key, value) = (&line[..end], line.get(end + 1..).unwrap_or(b"true"));
        let Some(key) = key.strip_prefix(b"filter.") else { return };
        let Some(dot) = key.iter().rposition(|byte| *byte == b'.') else { return };
        let key = (key[..dot].to_vec(), key[dot + 1..].to_vec());
        // What is of neither is not trusted.
        if matches!(scope, b"system" | b"global" | b"command") {
            self.own.insert(key, value.to_vec());
        } else {
            self.foreign.insert(key);
        }
    }

    /// What each filter that the repository meddles with is to be set to: name, setting, value.
    fn corrections(&self) -> Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> {
        let mut all = Vec::new();
        let own = |name: &[u8], setting: &[u8]| {
            self.own.get(&(name.to_vec(), setting.to_vec())).cloned().unwrap_or_default()
        };
        for (name, setting) in &self.foreign {
            // One that is set to nothing is not the same to git as one that is not set: a `process`
            // that is nothing keeps `smudge` from being run. So only what was set is set again.
            if PROGRAMS.contains(&setting.as_slice()) {
                all.push((name.clone(), setting.clone(), own(name, setting)));
            }
        }
        for name in self.foreign.iter().map(|(name, _)| name).collect::<BTreeSet<_>>() {
            // Nothing can be required of a filter that does not run.
            let runs = PROGRAMS.iter().any(|program| !own(name, program).is_empty());
            let required = Some(own(name, REQUIRED)).filter(|value| runs && !value.is_empty());
            let required = required.unwrap_or_else(|| b"false".to_vec());
            all.push((name.clone(), REQUIRED.to_vec(), required));
        }
        all
    }
}
