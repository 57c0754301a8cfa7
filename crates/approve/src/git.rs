//! What git finds in a worktree: the files that it tracks, and settings that would have it run files which
//! the agent writes.

use crate::barred::is_told_what;
use std::fs;
use std::path::{Path, PathBuf};

/// Larger ones are no list of files that a person works with.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The sum at the end of the list. Where another kind of sum is used, nothing is read of it.
const SUM_BYTES: usize = 20;

/// A repository as a worktree names it.
#[derive(Debug)]
pub(crate) struct Repository {
    /// Of this worktree alone.
    own: PathBuf,
    /// Of all worktrees.
    common: PathBuf,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tracked {
    mode: u32,
    pub(crate) path: Vec<u8>,
}

impl Tracked {
    pub(crate) fn is_plain_file(&self) -> bool {
        self.mode == 0o100_644
    }

    /// A repository within, which has settings of its own.
    pub(crate) fn is_repository(&self) -> bool {
        self.mode == 0o160_000
    }
}

impl Repository {
    /// The repository of a worktree. One whose folder lies in the worktree and is not `.git` itself may
    /// have been made by the agent.
    pub(crate) fn of(worktree: &Path) -> Option<Self> {
        let git = worktree.join(".git");
        let found = git.symlink_metadata().ok()?;
        if found.is_dir() {
            return Some(Self { own: git.clone(), common: git });
        }
        let named = fs::read_to_string(git).ok().filter(|_| found.is_file())?;
        let named = named.strip_prefix("gitdir: ")?.trim_end_matches('\n');
        let own = worktree.join(named).canonicalize().ok()?;
        let common = match fs::read_to_string(own.join("commondir")) {
            Ok(common) => own.join(common.trim_end_matches('\n')).canonicalize().ok()?,
            Err(_) => own.clone(),
        };
        let outside = |folder: &Path| !folder.starts_with(worktree);
        (outside(&own) && outside(&common)).then_some(Self { own, common })
    }

    /// The folder of all its worktrees together.
    pub(crate) fn common(&self) -> &Path {
        &self.common
    }

    /// What it tracks, if that can be read whole.
    pub(crate) fn tracked(&self) -> Option<Vec<Tracked>> {
        let file = self.own.join("index");
        let found = fs::metadata(&file).ok().filter(|found| found.len() <= INDEX_BYTES_MAX)?;
        entries(&fs::read(file).ok().filter(|_| found.is_file())?)
    }

    /// A setting by which git runs something of the worktree: of the repository, the user or the system, or
    /// of a file that one of these includes.
    pub(crate) fn runs_from(&self, worktree: &Path, user: &User) -> Option<String> {
        let mut files = vec![
            self.common.join("config"),
            self.own.join("config.worktree"),
            PathBuf::from("/etc/gitconfig"),
        ];
        files.extend(user.home.iter().map(|home| home.join(".gitconfig")));
        files.extend(user.settings.iter().map(|settings| settings.join("git/config")));
        let mut read = 0;
        while let Some(file) = files.pop() {
            let Ok(text) = fs::read(&file) else { continue };
            read += 1;
            if read > FILES_MAX {
                return Some(format!("more than {FILES_MAX} files"));
            }
            let mut group = String::new();
            let text = String::from_utf8_lossy(&text);
            for line in text.lines().filter_map(|line| Setting::read(line, &mut group)) {
                let included = line.key == "path";
                if included && let Some(file) = user.find(line.value, &file) {
                    if file.starts_with(worktree) {
                        return Some(line.text.to_owned());
                    }
                    files.push(file);
                } else if included || line.runs_from(worktree) {
                    return Some(line.text.to_owned());
                }
            }
        }
        None
    }
}

/// More settings than this in files that include each other are not a person's.
const FILES_MAX: usize = 64;

/// Where a user's settings lie.
#[derive(Debug, Default)]
pub(crate) struct User {
    pub(crate) home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, or what it is without that.
    pub(crate) settings: Option<PathBuf>,
}

impl User {
    /// A file that another one includes, without links; one that is not there includes nothing.
    fn find(&self, named: &str, by: &Path) -> Option<PathBuf> {
        let file = match (named.strip_prefix("~/"), &self.home) {
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) => return None,
            (None, _) => by.parent()?.join(named),
        };
        // The folder tells where it would be, should it be made.
        let folder = file.parent()?.canonicalize().ok()?;
        Some(
            file.canonicalize()
                .unwrap_or_else(|_| folder.join(file.file_name().unwrap_or_default())),
        )
    }
}

/// Settings whose value is a file or folder that git acts upon, or a command.
const ACTING: [&str; 16] = [
    "clean",
    "cmd",
    "command",
    "defaultkeycommand",
    "external",
    "fsmonitor",
    "hookspath",
    "pager",
    "process",
    "program",
    "receivepack",
    "smudge",
    "sshcommand",
    "textconv",
    "uploadpack",
    "worktree",
];

/// A group of which every setting is a command.
const COMMANDS: &str = "pager";

/// Of these, the ones that are paths and nothing else.
const PATHS: [&str; 2] = ["hookspath", "worktree"];

/// A line of settings that sets one.
struct Setting<'l> {
    text: &'l str,
    is_command: bool,
    key: String,
    value: &'l str,
}

impl<'l> Setting<'l> {
    /// Notes the group that a line begins.
    fn read(line: &'l str, group: &mut String) -> Option<Self> {
        let (text, mut quoted) = (line.trim(), false);
        let ends = |c: char| {
            quoted ^= c == '"';
            c == ']' && !quoted
        };
        // A key may stand in the line of its group.
        let after = text.strip_prefix('[').and_then(|rest| rest.split_once(ends));
        if let Some((name, _)) = after {
            *group = name.trim().to_lowercase();
        }
        let (key, value) = after.map_or(text, |(_, rest)| rest.trim()).split_once('=')?;
        let (key, value) = (key.trim().to_lowercase(), value.trim().trim_matches('"'));
        Some(Self { text, is_command: group == COMMANDS, key, value })
    }

    /// Whether it has git run something that may lie in the worktree. What is not plainly elsewhere does.
    fn runs_from(&self, worktree: &Path) -> bool {
        let key = self.key.as_str();
        let switch =
            ["", "true", "false", "yes", "no", "on", "off", "0", "1"].contains(&self.value);
        if !(self.is_command || ACTING.contains(&key)) || switch {
            return false;
        }
        let here = |word: &str| {
            let file = word.trim_matches(['"', '\'', '\\']);
            let leads = Path::new(file).canonicalize().unwrap_or_else(|_| PathBuf::from(file));
            let absolute = file.starts_with('/') && !leads.starts_with(worktree);
            let elsewhere = (file.starts_with("~/") || absolute) && !file.contains("..");
            let is_there = || worktree.join(file).symlink_metadata().is_ok();
            !elsewhere
                && (PATHS.contains(&key) || file.contains(['/', '.', '\\', '$', '`']) || is_there())
        };
        let program = self.value.split_whitespace().next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        is_told_what(program) || self.value.split_whitespace().any(here)
    }
}

/// The entries of an index of git, versions 2 to 4. One that is split over files is not read.
fn entries(bytes: &[u8]) -> Option<Vec<Tracked>> {
    let body = bytes.get(..bytes.len().checked_sub(SUM_BYTES)?)?;
    let number = |at: usize| {
        let four = body.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(four.try_into().ok()?))
    };
    let version = number(4).filter(|version| (2..=4).contains(version))?;
    let (mut at, mut all, mut last) = (12, Vec::new(), Vec::new());
    for _ in 0..number(8).filter(|_| body.starts_with(b"DIRC"))? {
        let mode = number(at + 24)?;
        let extended = body.get(at + 60)? & 0x40 != 0;
        let mut name = at + if extended { 64 } else { 62 };
        let kept = if version == 4 { last.len().checked_sub(count(body, &mut name)?)? } else { 0 };
        let rest = body.get(name..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        last.truncate(kept);
        last.extend(rest.get(..length)?);
        let end = name + length;
        // Before version 4 each is filled up to eight bytes, with one at least.
        at = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
        all.push(Tracked { mode, path: last.clone() });
    }
    while at < body.len() {
        let part = body.get(at..at + 4)?;
        if part == b"link" || part == b"sdir" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    (at == body.len()).then_some(all)
}

/// A number of as many bytes as it needs, as git writes it.
fn count(body: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *body.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut number = usize::from(byte & 127);
    while byte & 128 != 0 {
        byte = next()?;
        number = number.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, words: &[&str]) {
        let quiet = ["-c", "user.name=x", "-c", "user.email=x", "-c", "protocol.file.allow=always"];
        let status =
            Command::new("git").args(quiet).args(words).current_dir(folder).output().unwrap();
        assert!(status.status.success(), "{words:?}: {}", String::from_utf8_lossy(&status.stderr));
    }

    #[test]
    fn what_git_tracks_is_read_in_every_version_of_its_list() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().canonicalize().unwrap().join("tree");
        fs::create_dir_all(tree.join("src/deep")).unwrap();
        git(&tree, &["init", "-q"]);
        let files = ["a.txt", "src/a.rs", "src/abc.rs", "src/deep/x"];
        for file in files {
            fs::write(tree.join(file), "x").unwrap();
        }
        git(&tree, &["add", "."]);
        git(&tree, &["commit", "-qm", "x"]);
        fs::write(tree.join("new"), "x").unwrap();
        git(&tree, &["add", "-N", "new"]);
        for version in ["2", "3", "4"] {
            git(&tree, &["update-index", "--index-version", version]);
            let tracked = Repository::of(&tree).unwrap().tracked().unwrap();
            assert!(tracked.iter().all(Tracked::is_plain_file), "{version}");
            let paths: Vec<_> =
                tracked.iter().map(|one| str::from_utf8(&one.path).unwrap()).collect();
            assert_eq!(
                paths,
                ["a.txt", "new", "src/a.rs", "src/abc.rs", "src/deep/x"],
                "{version}"
            );
        }
        let other = root.path().join("other");
        git(&tree, &["worktree", "add", "-q", other.to_str().unwrap()]);
        let other = other.canonicalize().unwrap();
        assert_eq!(Repository::of(&other).unwrap().tracked().unwrap().len(), 4);
        // A list that is split, cut or of another kind is not read.
        git(&tree, &["update-index", "--split-index"]);
        assert_eq!(Repository::of(&tree).unwrap().tracked(), None);
        let whole = fs::read(Repository::of(&other).unwrap().own.join("index")).unwrap();
        let all = entries(&whole).unwrap();
        for cut in 0..whole.len() {
            // Behind the last file there is nothing that is needed.
            assert!(entries(&whole[..cut]).is_none_or(|some| some == all), "{cut}");
        }
        // A repository that lies where the agent writes is none.
        fs::write(other.join(".git"), "gitdir: src/evil\n").unwrap();
        fs::create_dir_all(other.join("src/evil")).unwrap();
        assert!(Repository::of(&other).is_none());
        assert!(Repository::of(root.path()).is_none());
    }

    #[test]
    fn a_setting_that_leads_into_the_worktree_is_found() {
        let worktree = Path::new("/w/tree");
        for line in [
            "hooksPath = .husky/_",
            "\thookspath=hooks",
            "[core] hooksPath = /w/tree/hooks",
            "fsmonitor = ./watch",
            "fsmonitor = .git/hooks/query-watchman",
            "external = scripts/diff",
            "textconv = python conv.py",
            "textconv = python3 conv",
            "textconv = /usr/bin/python3 conv",
            "textconv = npm run diff",
            "[diff \"z]y\"] textconv = ./conv",
            "[pager] log = ./x",
            "defaultKeyCommand = ./x",
            "hooksPath = ~/../w/tree/h",
            "textconv = \"sh -c 'cat $1'\"",
            "clean = /w/tree/x %f",
            "pager = /w/other/../tree/x",
            "hooksPath = \\",
            "worktree = elsewhere",
        ] {
            assert!(Setting::read(line, &mut String::new()).unwrap().runs_from(worktree), "{line}");
        }
        for line in [
            "[core]",
            "hooksPath = /home/me/hooks",
            "hooksPath = ~/hooks",
            "fsmonitor = true",
            "process = git-lfs filter-process",
            "clean = git-lfs clean -- %f",
            "pager = less -FRX",
            "external = difft",
            "url = ../x",
            "name = a.b",
            "# hooksPath = x",
        ] {
            let set = Setting::read(line, &mut String::new());
            assert!(set.is_none_or(|set| !set.runs_from(worktree)), "{line}");
        }
    }

    #[test]
    fn settings_are_followed_into_the_files_that_they_include() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (tree, home) = (root.join("tree"), root.join("home"));
        for folder in [tree.join("src"), home.join(".config/git")] {
            fs::create_dir_all(folder).unwrap();
        }
        git(&tree, &["init", "-q"]);
        let user = User { home: Some(home.clone()), settings: Some(home.join(".config")) };
        let told = |files: &[(&str, &str)]| {
            for (file, text) in files {
                fs::write(root.join(file), text).unwrap();
            }
            Repository::of(&tree).unwrap().runs_from(&tree, &user)
        };
        assert_eq!(told(&[]), None);
        let (gitconfig, work) = ("home/.gitconfig", "home/work");
        assert_eq!(told(&[(gitconfig, "[include]\npath = ~/work\n")]), None);
        let hooks = "hooksPath = .githooks";
        assert_eq!(told(&[(work, hooks)]).as_deref(), Some(hooks));
        assert_eq!(
            told(&[(work, "hooksPath = ~/hooks\n[include]\npath = work\n")]).as_deref(),
            Some("more than 64 files")
        );
        let into = "path = ../tree/.gitconfig";
        assert_eq!(told(&[(work, into)]).as_deref(), Some(into));
        assert_eq!(told(&[(work, ""), ("home/.config/git/config", hooks)]).as_deref(), Some(hooks));
    }
}
