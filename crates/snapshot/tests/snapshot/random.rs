//! Random worktrees: whatever somebody did to one, saving, destroying and restoring it is the
//! identity. A failing case is cut down to the steps that matter.

use crate::house::{House, Outcome, assert_same, git, mode, put, put_bytes};
use crate::seeds;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// How many worktrees are tried; `GLIS_SNAPSHOT_CASES` asks for more.
const CASES: u64 = 36;
const STEPS_MAX: u64 = 16;

const NAMES: [&[u8]; 14] = [
    b"a.txt",
    b"dir/b.txt",
    b"dir/sub/c.txt",
    b"run.sh",
    b"gone.txt",
    b"link",
    b"other/d.txt",
    b"new.txt",
    b"dir/new \xff",
    b"fresh/line\nbreak",
    b"x.crlf",
    b"y.rot",
    b"dir",
    b"ignored.log",
];

const TEXTS: [&[u8]; 6] = [
    b"one\ntwo\n",
    b"crlf\r\nlines\r\n",
    b"\0binary\xff",
    b"",
    b"uno\ntwo\n",
    b"one\nTWO\nthree\n",
];

/// What somebody may do. The numbers choose names and contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Write(usize, u64),
    Delete(usize),
    Link(usize, usize),
    Chmod(usize, u64),
    ChmodFolder(u64),
    Rename(usize, usize),
    Touch(usize),
    EmptyFolder,
    Pipe,
    Add(usize),
    AddAll,
    IntentToAdd(usize),
    RemoveCached(usize),
    Unstage(usize),
    Commit,
    Branch,
    Detach,
    Orphan,
    ResetHard,
    Operation(u64),
    Stash,
    Hide(usize, u64),
    IndexForm(u64),
    Sparse,
    Attributes,
    Ignore,
    Nested(u64),
}

struct Chance(u64);

impl Chance {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn name(&mut self) -> usize {
        usize::try_from(self.next(NAMES.len() as u64)).unwrap_or(0)
    }

    fn step(&mut self) -> Step {
        match self.next(40) {
            0..=7 => Step::Write(self.name(), self.next(6)),
            8..=9 => Step::Delete(self.name()),
            10 => Step::Link(self.name(), self.name()),
            11..=12 => Step::Chmod(self.name(), self.next(4)),
            13 => Step::ChmodFolder(self.next(2)),
            14 => Step::Rename(self.name(), self.name()),
            15 => Step::Touch(self.name()),
            16 => Step::EmptyFolder,
            17 => Step::Pipe,
            18..=20 => Step::Add(self.name()),
            21 => Step::AddAll,
            22 => Step::IntentToAdd(self.name()),
            23 => Step::RemoveCached(self.name()),
            24 => Step::Unstage(self.name()),
            25..=26 => Step::Commit,
            27 => Step::Branch,
            28 => Step::Detach,
            29 => Step::Orphan,
            30 => Step::ResetHard,
            31..=33 => Step::Operation(self.next(6)),
            34 => Step::Stash,
            35 => Step::Hide(self.name(), self.next(2)),
            36 => Step::IndexForm(self.next(4)),
            37 => [Step::Sparse, Step::Ignore][usize::try_from(self.next(2)).unwrap_or(0)],
            38 => Step::Attributes,
            _ => Step::Nested(self.next(3)),
        }
    }
}

/// Does a step. Git may refuse it in this state; that is a state, too.
fn apply(house: &House, step: Step) -> Outcome {
    let tree = &house.tree;
    let on = |args: &[&str], name: usize| {
        let mut command = crate::house::command(tree, &[&["--literal-pathspecs"], args].concat());
        drop(command.arg("--").arg(OsStr::from_bytes(NAMES[name])).output());
    };
    let run = |args: &[&str]| drop(house.git(args));
    match step {
        Step::Add(name) => on(&["add"], name),
        Step::AddAll => run(&["add", "-A"]),
        Step::IntentToAdd(name) => on(&["add", "-N"], name),
        Step::RemoveCached(name) => on(&["rm", "-q", "-r", "--cached"], name),
        Step::Unstage(name) => on(&["reset", "-q"], name),
        Step::Commit => run(&["commit", "-q", "-am", "x"]),
        Step::Branch => run(&["checkout", "-q", "-b", "topic"]),
        Step::Detach => run(&["checkout", "-q", "--detach"]),
        Step::Orphan => run(&["checkout", "-q", "--orphan", "side"]),
        Step::ResetHard => run(&["reset", "-q", "--hard", "HEAD~1"]),
        Step::Operation(kind) => operation(house, kind)?,
        Step::Stash => run(&["stash", "-q", "-u"]),
        Step::Hide(name, 0) => on(&["update-index", "--assume-unchanged"], name),
        Step::Hide(name, _) => on(&["update-index", "--skip-worktree"], name),
        Step::IndexForm(kind) => match kind {
            0 => run(&["update-index", "--split-index"]),
            1 => run(&["update-index", "--index-version", "4"]),
            2 => run(&["update-index", "-q", "--refresh"]),
            _ => run(&["read-tree", "--empty"]),
        },
        Step::Sparse => run(&["sparse-checkout", "set", "--cone", "dir"]),
        Step::Write(..)
        | Step::Delete(_)
        | Step::Link(..)
        | Step::Chmod(..)
        | Step::ChmodFolder(_)
        | Step::Rename(..)
        | Step::Touch(_)
        | Step::EmptyFolder
        | Step::Pipe
        | Step::Attributes
        | Step::Ignore
        | Step::Nested(_) => apply_to_files(tree, step)?,
    }
    Ok(())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other half of the steps is git's")]
/// Does a step that git knows nothing of. Where a folder is, no file can be, and the other way
/// round, so some of them fail.
fn apply_to_files(tree: &Path, step: Step) -> Outcome {
    let path = |name: usize| tree.join(OsStr::from_bytes(NAMES[name]));
    match step {
        Step::Write(name, kind) => {
            drop(put_bytes(tree, NAMES[name], TEXTS[usize::try_from(kind)?]));
        }
        Step::Delete(name) => {
            drop(fs::remove_file(path(name)).or_else(|_| fs::remove_dir_all(path(name))));
        }
        Step::Link(name, to) => {
            drop(fs::remove_file(path(name)));
            drop(std::os::unix::fs::symlink(OsStr::from_bytes(NAMES[to]), path(name)));
        }
        Step::Chmod(name, kind) => {
            let rights = [0o644, 0o755, 0o600, 0o640][usize::try_from(kind)?];
            if fs::symlink_metadata(path(name)).is_ok_and(|meta| meta.is_file()) {
                fs::set_permissions(path(name), fs::Permissions::from_mode(rights))?;
            }
        }
        Step::ChmodFolder(kind) => {
            drop(mode(tree, "other", [0o700, 0o755][usize::try_from(kind)?]));
        }
        Step::Rename(from, to) => drop(fs::rename(path(from), path(to))),
        Step::Touch(name) => {
            if let Ok(bytes) = fs::read(path(name)) {
                drop(fs::write(path(name), bytes));
            }
        }
        Step::EmptyFolder => drop(fs::create_dir_all(tree.join("empty/inner"))),
        Step::Pipe => {
            let _ = rustix::fs::mkfifoat(rustix::fs::CWD, tree.join("pipe"), 0o644.into());
        }
        Step::Attributes => put(tree, ".gitattributes", "*.crlf text eol=lf\n*.rot filter=rot\n")?,
        Step::Ignore => put(tree, ".gitignore", "ignored*\n")?,
        Step::Nested(kind) => nested(&tree.join("nested"), kind)?,
        _ => return Err("a step for git".into()),
    }
    Ok(())
}

fn nested(inner: &Path, kind: u64) -> Outcome {
    fs::create_dir_all(inner)?;
    drop(git(inner, &["init", "-q", "-b", "trunk"]));
    put(inner, "file", &kind.to_string())?;
    if kind > 0 {
        drop(git(inner, &["add", "-A"]));
    }
    if kind > 1 {
        drop(git(inner, &["commit", "-q", "-m", "inner"]));
    }
    Ok(())
}

fn operation(house: &House, kind: u64) -> Outcome {
    // Something to collide with, made where it disturbs nobody.
    if git(&house.repo, &["rev-parse", "-q", "--verify", "collide"]).is_err() {
        git(&house.repo, &["checkout", "-q", "-b", "collide", "main~1"])?;
        put(&house.repo, "a.txt", "other\n")?;
        put(&house.repo, "dir/b.txt", "other\n")?;
        git(&house.repo, &["commit", "-q", "-am", "collide"])?;
        git(&house.repo, &["checkout", "-q", "main"])?;
    }
    drop(match kind {
        0 => house.git(&["merge", "-q", "collide"]),
        1 => house.git(&["rebase", "-q", "collide"]),
        2 => house.git(&["cherry-pick", "collide"]),
        3 => house.git(&["revert", "--no-edit", "HEAD"]),
        4 => house.git(&["bisect", "start", "HEAD", "HEAD~1"]),
        _ => house.git(&["merge", "-q", "--squash", "collide"]),
    });
    Ok(())
}

fn try_steps(steps: &[Step]) -> Result<(), String> {
    let tried = catch_unwind(AssertUnwindSafe(|| -> Result<(), String> {
        let house = House::new().map_err(|error| error.to_string())?;
        git(&house.repo, &["config", "filter.rot.clean", "tr a-z n-za-m"])
            .map_err(|e| e.to_string())?;
        git(&house.repo, &["config", "filter.rot.smudge", "tr a-z n-za-m"])
            .map_err(|e| e.to_string())?;
        for step in steps {
            apply(&house, *step).map_err(|error| format!("the step itself: {error}"))?;
        }
        let nested = house.tree.join("nested");
        let before = nested.join(".git").exists().then(|| crate::house::portrait(&nested));
        house.round_trip().map_err(|error| error.to_string())?;
        if let Some(before) = before {
            let before = before.map_err(|error| error.to_string())?;
            assert_same(
                &before,
                &crate::house::portrait(&nested).map_err(|error| error.to_string())?,
            );
        }
        Ok(())
    }));
    match tried {
        Ok(result) => result,
        Err(panic) => Err(panic.downcast_ref::<String>().cloned().unwrap_or_default()),
    }
}

/// Leaves out one step after the other as long as the case still fails.
fn shrink(mut steps: Vec<Step>) -> Vec<Step> {
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        if try_steps(&fewer).is_err() {
            steps = fewer;
        } else {
            at += 1;
        }
    }
    steps
}

fn cases(remainder: u64) -> Result<(), String> {
    let number = std::env::var("GLIS_SNAPSHOT_CASES").ok().and_then(|n| n.parse().ok());
    let mut seeds = (0..number.unwrap_or(CASES)).filter(|seed| seed % 3 == remainder);
    seeds.try_for_each(case)
}

fn case(seed: u64) -> Result<(), String> {
    // Never zero, from which this kind of chance does not get away.
    let mut chance = Chance(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1));
    let steps: Vec<Step> = (0..4 + chance.next(STEPS_MAX)).map(|_| chance.step()).collect();
    if let Err(first) = try_steps(&steps) {
        let few = shrink(steps);
        let last = try_steps(&few).err().unwrap_or(first);
        return Err(format!("GLIS_SEED={seed} plays it again: {few:?}\n{last}"));
    }
    Ok(())
}

/// How many worktrees of a run no other run has tried; each takes about a second.
const FRESH: usize = 6;

#[test]
fn a_worktree_from_a_fresh_seed_comes_back_as_it_was() -> Result<(), String> {
    let wish = std::env::var("GLIS_SEED").ok();
    for seed in seeds::fresh(wish.as_deref(), FRESH)? {
        println!("seed {seed}");
        case(seed)?;
    }
    Ok(())
}

#[test]
fn a_random_worktree_comes_back_as_it_was() -> Result<(), String> {
    cases(0)
}

#[test]
fn another_random_worktree_comes_back_as_it_was() -> Result<(), String> {
    cases(1)
}

#[test]
fn one_more_random_worktree_comes_back_as_it_was() -> Result<(), String> {
    cases(2)
}
