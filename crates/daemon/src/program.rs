//! The agent's program: found as a shell would find it, its launcher left out, its version known.

use crate::environments::Env;
use crate::panics::held;
use glis_agent::{Ability, Agent, Login, LoginFacts, Version};
use glis_core::refusal::ResumeFault;
use glis_os::descriptors::in_memory;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

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

/// A version, or why it is not known.
type Learned = Result<Version, String>;

/// The programs that were asked for their version answer within a second or not at all; past this a
/// start only gets later.
const ANSWER_SECS_MAX: u32 = 10;

/// So much of what a program says in place of a version is told.
const SAID_CHARS_MAX: usize = 80;

/// The versions of programs that were asked for theirs. Asking takes longer than starting should.
#[derive(Default)]
pub(crate) struct Versions {
    known: Mutex<HashMap<Stamp, Learned>>,
}

impl Versions {
    /// Refuses a version that cannot work; says so if it cannot be learned: that may be a good one all the
    /// same.
    pub(crate) fn judge(
        &self,
        agent: &dyn Agent,
        program: &Path,
        env: &Env,
    ) -> Result<Option<String>, ResumeFault> {
        let Some(range) = agent.versions() else { return Ok(None) };
        let at = program.display();
        let version = match self.of(agent, program, env) {
            Ok(version) => version,
            Err(why) => return Ok(Some(format!("the version of {at} is not known: {why}"))),
        };
        if version < range.oldest || range.bad.contains(&version) {
            return Err(ResumeFault::WrongVersion(format!(
                "{at} is {}; {} or newer is needed",
                shown(version),
                shown(range.oldest)
            )));
        }
        Ok(None)
    }

    /// How a program that may be started differs from what was tested. Vendors release daily: it is for who
    /// looks for what is wrong, and not for every start.
    pub(crate) fn untested(&self, agent: &dyn Agent, program: &Path, env: &Env) -> Option<String> {
        let range = agent.versions()?;
        let version = self.of(agent, program, env).ok().filter(|known| *known != range.tried)?;
        let (at, is, tried) = (program.display(), shown(version), shown(range.tried));
        let (how, rest) = if version > range.tried {
            ("newer", String::new())
        } else {
            let oldest = shown(range.oldest);
            ("older", format!("; it should work from {oldest} on"))
        };
        Some(format!("{at} is version {is}, {how} than {tried}, which was tested{rest}"))
    }

    fn of(&self, agent: &dyn Agent, program: &Path, env: &Env) -> Learned {
        let facts = program.metadata().map_err(|fault| fault.to_string())?;
        let stamp = (program.to_owned(), facts.len(), facts.mtime());
        let known = || held(&self.known);
        if let Some(learned) = known().get(&stamp) {
            return learned.clone();
        }
        let packaged = packaged(program, agent.packages());
        let learned = packaged.map_or_else(|| asked(program, env, ANSWER_SECS_MAX), Ok);
        known().insert(stamp, learned.clone());
        learned
    }
}

/// A package says its version in a file beside the program, which costs nothing to read. Whatever
/// else lies around the program says nothing of it.
fn packaged(program: &Path, packages: &[&str]) -> Option<Version> {
    let real = program.canonicalize().ok()?;
    real.ancestors().skip(1).take(5).find_map(|folder| {
        let text = std::fs::read(folder.join("package.json")).ok()?;
        let fields: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let name = fields.get("name")?.as_str()?;
        let fits = |package: &&str| {
            name.strip_prefix(*package).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        packages.iter().any(fits).then(|| version_in(fields.get("version")?.as_str()?))?
    })
}

/// Asks the program itself, in the environment that it will have.
fn asked(program: &Path, env: &Env, secs_max: u32) -> Learned {
    let told = run(program, &[OsStr::new("--version")], env, Path::new("/"), secs_max);
    let Told { end, output: said, .. } = told.map_err(|fault| fault.to_string())?;
    match end {
        End::TooLate => return Err(format!("`--version` had no answer after {secs_max} s")),
        End::Failed(status) => return Err(format!("`--version` failed, {status}")),
        End::Well => {}
    }
    version_in(&said).ok_or_else(|| {
        let line: String = said.trim().chars().take(SAID_CHARS_MAX).collect();
        format!("`--version` says {line:?}")
    })
}

/// Whether an agent can work in this folder, as far as that is told without asking its model. It takes
/// [`ANSWER_SECS_MAX`] at most; what is not told in time is not known.
pub(crate) fn can_work(
    agent: &dyn Agent,
    program: &Path,
    arguments: &[String],
    folder: &Path,
    env: &Env,
) -> Ability {
    let variable =
        |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let home = agent.home(&variable).unwrap_or_default();
    let told = match agent.login() {
        Login::Untold => return Ability::Unknown,
        Login::Call(words) => {
            let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
            match run(program, &words, env, folder, ANSWER_SECS_MAX) {
                Ok(Told { end: End::Well | End::Failed(_), output, errors }) => output + &errors,
                Ok(Told { end: End::TooLate, .. }) | Err(_) => return Ability::Unknown,
            }
        }
        Login::Files(names) => {
            let folders = folder.ancestors().chain(Path::new(&home).parent());
            let files = folders.flat_map(|folder| names.iter().map(|name| folder.join(name)));
            files.filter_map(|file| std::fs::read_to_string(file).ok()).collect()
        }
    };
    let settings = agent.settings(&home).and_then(|file| std::fs::read_to_string(file).ok());
    agent.ability(&LoginFacts {
        told: &told,
        settings: &settings.unwrap_or_default(),
        arguments,
        variable: &variable,
    })
}

/// What came of a program that was run to its end.
pub(crate) struct Told {
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) errors: String,
}

pub(crate) enum End {
    Well,
    Failed(ExitStatus),
    /// Not by itself: its time was over.
    TooLate,
}

/// Runs a program to its end, with these variables and no others. What it says goes into memory: a
/// pipe would stay open for as long as anything that it has started lives.
pub(crate) fn run(
    program: &Path,
    arguments: &[&OsStr],
    env: &Env,
    folder: &Path,
    secs_max: u32,
) -> io::Result<Told> {
    run_with(program, arguments, env, folder, (secs_max, Stdio::null()))
}

/// The same with a question on its standard input.
pub(crate) fn ask(
    program: &Path,
    arguments: &[&OsStr],
    env: &Env,
    folder: &Path,
    (secs_max, question): (u32, &str),
) -> io::Result<Told> {
    let mut asked = in_memory("question")?;
    asked.write_all(question.as_bytes())?;
    asked.rewind()?;
    run_with(program, arguments, env, folder, (secs_max, asked.into()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program that does one thing, in a stated directory"
)]
fn run_with(
    program: &Path,
    arguments: &[&OsStr],
    env: &Env,
    folder: &Path,
    (secs_max, input): (u32, Stdio),
) -> io::Result<Told> {
    let (mut output, mut errors) = (in_memory("output")?, in_memory("errors")?);
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .env("PWD", folder)
        .current_dir(folder)
        .stdin(input)
        .stdout(output.try_clone()?)
        .stderr(errors.try_clone()?)
        .process_group(0)
        .spawn()?;
    let in_time = glis_os::ends_within(&child, Duration::from_secs(secs_max.into()));
    let status = child.wait()?;
    let end = match (in_time, status.success()) {
        (false, _) => End::TooLate,
        (true, true) => End::Well,
        (true, false) => End::Failed(status),
    };
    Ok(Told { end, output: written(&mut output)?, errors: written(&mut errors)? })
}

fn written(memory: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    memory.rewind()?;
    memory.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn shown((a, b, c): Version) -> String {
    format!("{a}.{b}.{c}")
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

    /// A program of `text` at `path`, which is below `folder`.
    fn program(folder: &Path, path: &str, text: &str) -> PathBuf {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    const PACKAGES: &[&str] = &["@anthropic-ai/claude-code"];

    #[test]
    fn only_its_own_package_says_the_version_of_a_program() {
        let dir = tempfile::tempdir().unwrap();
        let strangers = r#"{"name":"my-notes","version":"1.0.0"}"#;
        std::fs::write(dir.path().join("package.json"), strangers).unwrap();
        let native = program(dir.path(), ".local/share/claude/versions/2.1.325", "");
        assert_eq!(packaged(&native, PACKAGES), None);
        for package in ["@anthropic-ai/claude-code", "@anthropic-ai/claude-code-linux-x64"] {
            let folder = dir.path().join("node_modules").join(package);
            let inner = program(&folder, "vendor/bin/claude", "");
            // Without a name it is for the language, not for a package.
            std::fs::write(folder.join("vendor/package.json"), r#"{"type":"module"}"#).unwrap();
            let own = format!(r#"{{"name":"{package}","version":"2.1.7"}}"#);
            std::fs::write(folder.join("package.json"), own).unwrap();
            assert_eq!(packaged(&inner, PACKAGES), Some((2, 1, 7)), "{package}");
        }
        let like = dir.path().join("node_modules/@anthropic-ai/claude-codex");
        let other = program(&like, "bin/claude", "");
        let own = r#"{"name":"@anthropic-ai/claude-codex","version":"3.0.0"}"#;
        std::fs::write(like.join("package.json"), own).unwrap();
        assert_eq!(packaged(&other, PACKAGES), None);
    }

    #[test]
    fn a_program_is_asked_in_the_environment_that_it_will_have() {
        let dir = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo \"$NUMBER (Claude Code)\"\n";
        let asks = program(dir.path(), "claude", script);
        let env = vec![("NUMBER".to_owned(), "2.1.325".to_owned())];
        assert_eq!(asked(&asks, &env, 30), Ok((2, 1, 325)));
    }

    #[test]
    fn a_version_that_was_not_tested_is_told_to_who_asks_and_at_no_start() {
        let dir = tempfile::tempdir().unwrap();
        let claude = glis_agent::find("claude").unwrap();
        let range = claude.versions().unwrap();
        let (a, b, c) = range.tried;
        let tried = shown(range.tried);
        for (version, told) in [
            ((a, b, c + 1), Some(format!("newer than {tried}, which was tested"))),
            ((a, b, c), None),
            (range.oldest, Some(format!("older than {tried}, which was tested; it should work"))),
        ] {
            let is = shown(version);
            let at = program(dir.path(), &is, &format!("#!/bin/sh\necho {is}\n"));
            let versions = Versions::default();
            assert_eq!(versions.judge(claude, &at, &Vec::new()), Ok(None), "{is}");
            let untested = versions.untested(claude, &at, &Vec::new());
            let fits = match (&untested, &told) {
                (Some(untested), Some(told)) => {
                    untested.contains(told) && untested.contains(&format!("is version {is},"))
                }
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            assert!(fits, "{is}: {untested:?}");
        }
    }

    #[test]
    fn a_version_that_cannot_be_learned_is_no_fault_and_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
        let claude = glis_agent::find("claude").unwrap();
        for (name, script, why) in [
            ("says", "echo hello", "`--version` says \"hello\""),
            ("fails", "echo 2.1.325; exit 3", "`--version` failed, exit status: 3"),
        ] {
            let at = program(dir.path(), name, &format!("#!/bin/sh\n{script}\n"));
            let warning = Versions::default().judge(claude, &at, &env).unwrap().unwrap();
            assert_eq!(warning, format!("the version of {} is not known: {why}", at.display()));
        }
        // Deaf to everything, and with a child that would keep a pipe open.
        let deaf = "trap '' TERM INT HUP\nsetsid sleep 60 &\necho $! > \"$0.pid\"\nwait\n";
        let at = program(dir.path(), "hangs", &format!("#!/bin/sh\n{deaf}"));
        let begun = std::time::Instant::now();
        let why = asked(&at, &env, 1).unwrap_err();
        assert_eq!(why, "`--version` had no answer after 1 s");
        assert!(begun.elapsed().as_secs() < 30);
        let child = std::fs::read_to_string(dir.path().join("hangs.pid")).unwrap();
        let child = rustix::process::Pid::from_raw(child.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    }
}
