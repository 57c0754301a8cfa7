//! A repository where everything that can be configured to run would leave a trace: none does.

use crate::house::{House, Outcome, SESSION, command, git, put};
use glis_snapshot::Side;
use glis_snapshot::worktree::{Plan, make, remove, shift};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const HOOKS: [&str; 26] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "post-index-change",
    "pre-commit-x",
];

fn trap(repo: &Path, canary: &Path) -> Outcome<PathBuf> {
    let script = repo.join(".git/trap.sh");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $@\" >> {}\nexit 1\n", canary.display()))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    fs::create_dir_all(repo.join(".git/hooks"))?;
    for hook in HOOKS {
        fs::copy(&script, repo.join(".git/hooks").join(hook))?;
    }
    let run = script.to_string_lossy().into_owned();
    let bang = format!("!{run}");
    for (key, value) in [
        ("core.hooksPath", repo.join(".git/hooks").to_string_lossy().as_ref()),
        ("core.fsmonitor", &run),
        ("core.pager", &run),
        ("core.editor", &run),
        ("core.sshCommand", &run),
        ("core.askPass", &run),
        ("core.alternateRefsCommand", &run),
        ("core.gitProxy", &run),
        ("core.untrackedCache", "true"),
        ("pager.status", &run),
        ("pager.diff", &run),
        ("diff.external", &run),
        ("diff.trap.command", &run),
        ("diff.trap.textconv", &run),
        ("merge.trap.driver", &run),
        ("filter.trap.clean", &run),
        ("filter.trap.smudge", &run),
        ("filter.trap.process", &run),
        ("filter.trap.required", "true"),
        ("filter.missing.clean", "/nonexistent/clean"),
        ("filter.missing.smudge", "/nonexistent/smudge"),
        ("filter.missing.required", "true"),
        ("gpg.program", &run),
        ("commit.gpgSign", "true"),
        ("credential.helper", &bang),
        ("alias.rev-parse", &bang),
        ("alias.fast-import", &bang),
        ("alias.for-each-ref", &bang),
        ("sequence.editor", &run),
        ("uploadpack.packObjectsHook", &run),
        ("gc.auto", "1"),
        ("maintenance.auto", "true"),
    ] {
        git(repo, &["config", key, value])?;
    }
    Ok(script)
}

#[test]
fn nothing_of_the_repository_is_ever_run() -> Outcome {
    let house = House::new()?;
    let canary = house.dir.path().join("canary");
    let inner = house.tree.join("inner");
    fs::create_dir(&inner)?;
    git(&inner, &["init", "-q"])?;
    put(&inner, "x", "x\n")?;
    git(&inner, &["add", "-A"])?;
    git(&inner, &["commit", "-q", "-m", "x"])?;
    house.put("tracked.trap", "t\n")?;
    house.put("tracked.missing", "t\n")?;
    house.git(&["add", "*.trap", "*.missing"])?;
    house.git(&["commit", "-q", "-m", "attributes to come"])?;
    house.put(
        ".gitattributes",
        "*.trap filter=trap diff=trap merge=trap\n*.missing filter=missing\n* text=auto\n",
    )?;
    house.put("a.txt", "changed\r\n")?;
    house.put("new.trap", "n\n")?;
    house.put("new.missing", "n\n")?;
    house.put("tracked.trap", "changed\n")?;
    let script = trap(&house.repo, &canary)?;
    trap(&inner, &canary)?;
    // The trap works: plain git falls into it.
    drop(house.git(&["status"]));
    assert!(canary.exists(), "the trap must be able to snap");
    fs::remove_file(&canary)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;

    let saved = house.save()?;
    let second = house.save()?;
    assert!(!second.fresh);
    glis_snapshot::verify(&house.repo, &saved.reference)?;
    glis_snapshot::compare(
        &house.tree,
        &house.repo,
        &saved.reference,
        &glis_snapshot::Limits::default(),
    )?;
    house.put("a.txt", "again\n")?;
    let third = house.save()?;
    let (from, to) = (Side::Snapshot(&saved.reference), Side::Snapshot(&third.reference));
    glis_snapshot::diff_files(&house.repo, from, to)?;
    glis_snapshot::list(&house.repo, "s1")?;
    let to = house.dir.path().join("elsewhere");
    let restored = house.restore(&saved.reference, &to)?;
    house.restore(&saved.reference, &to)?;
    glis_snapshot::to_trash(&house.repo, "s1")?;
    glis_snapshot::from_trash(&house.repo, "s1")?;
    glis_snapshot::sweep(&house.repo)?;
    let said = fs::read_to_string(&canary).unwrap_or_default();
    assert_eq!(said, "", "something ran; notes {:?}", restored.notes);
    assert_eq!(fs::read_to_string(to.join("new.trap"))?, "n\n");
    assert_eq!(fs::read_to_string(to.join("a.txt"))?, "changed\r\n");
    assert_eq!(fs::read_to_string(to.join("inner/x"))?, "x\n");
    Ok(())
}

#[test]
fn nothing_of_the_repository_runs_when_a_worktree_is_made() -> Outcome {
    let house = House::new()?;
    let canary = house.dir.path().join("canary");
    for name in ["x.trap", "x.missing"] {
        put(&house.repo, name, "x\n")?;
    }
    let rules = "*.trap filter=trap diff=trap merge=trap\n*.missing filter=missing\n* text=auto\n";
    put(&house.repo, ".gitattributes", rules)?;
    git(&house.repo, &["add", "-A"])?;
    git(&house.repo, &["commit", "-q", "-m", "with rules"])?;
    trap(&house.repo, &canary)?;
    // The trap works: plain git falls into it.
    let plain = house.dir.path().join("plain").to_string_lossy().into_owned();
    drop(git(&house.repo, &["worktree", "add", "-q", "--detach", &plain]));
    assert!(canary.exists(), "the trap must be able to snap");
    fs::remove_file(&canary)?;
    let base = house.dir.path().canonicalize()?;
    let (path, moved) = (base.join("new"), base.join("moved"));
    let (repo, path) = (house.repo.as_path(), path.as_path());
    let plan = Plan { repo, path, branch: "fresh", base: None, owner: "me", umask: 0o022 };
    make(&plan)?;
    assert_eq!(fs::read_to_string(path.join("x.trap"))?, "x\n");
    assert_eq!(fs::read_to_string(path.join("x.missing"))?, "x\n");
    shift(repo, path, &moved)?;
    remove(repo, &moved, "me")?;
    assert_eq!(fs::read_to_string(&canary).unwrap_or_default(), "", "something ran");
    Ok(())
}

#[test]
fn rules_in_a_pipe_do_not_hang_us() -> Outcome {
    let house = House::new()?;
    rustix::fs::mkfifoat(rustix::fs::CWD, house.tree.join(".gitignore"), 0o644.into())?;
    house.put("new", "n")?;
    let begun = std::time::Instant::now();
    let saved = house.save()?;
    assert!(begun.elapsed().as_secs() < 30);
    house.destroy()?;
    house.restore(&saved.reference, &house.tree)?;
    assert_eq!(fs::read_to_string(house.tree.join("new"))?, "n");
    Ok(())
}

#[test]
fn a_worktree_that_points_at_another_is_refused() -> Outcome {
    let house = House::new()?;
    git(&house.repo, &["config", "core.worktree", "/etc"])?;
    let fault = glis_snapshot::save(&glis_snapshot::SaveRequest {
        worktree: &house.repo,
        session: "s",
        why: "test",
        limits: glis_snapshot::Limits::default(),
        passing: None,
    });
    assert!(fault.is_err());
    Ok(())
}

#[test]
fn a_snapshot_made_by_hand_leads_nowhere_outside() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    let saved = house.save()?;
    let outside = house.dir.path().join("outside");
    fs::create_dir(&outside)?;
    let blob = |text: &str| {
        fs::write(house.dir.path().join("bytes"), text)?;
        git(&house.repo, &["hash-object", "-w", "../bytes"])
    };
    let tree = |lines: &str| -> Outcome<String> {
        let mut make = command(&house.repo, &["mktree"]);
        let mut child = make.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        child.stdin.take().ok_or("no input")?.write_all(lines.as_bytes())?;
        Ok(String::from_utf8(child.wait_with_output()?.stdout)?.trim().to_owned())
    };
    let evil = tree(&format!("100644 blob {}\tevil\n", blob("evil")?.trim()))?;
    let link = blob(&outside.to_string_lossy())?;
    let forged = [
        ("worktree", format!("040000 tree {evil}\t..\n")),
        ("worktree", format!("120000 blob {}\ta\n040000 tree {evil}\ta\n", link.trim())),
        ("worktree", format!("040000 tree {evil}\t.git\n")),
        ("gitdir", format!("040000 tree {evil}\t..\n")),
    ];
    for (number, (folder, lines)) in forged.iter().enumerate() {
        let forged = tree(lines)?;
        let old = git(&house.repo, &["ls-tree", &saved.reference])?;
        let others: Vec<&str> =
            old.lines().filter(|line| !line.ends_with(&format!("\t{folder}"))).collect();
        let whole = tree(&format!("{}\n040000 tree {forged}\t{folder}\n", others.join("\n")))?;
        let commit = git(&house.repo, &["commit-tree", "-m", "forged", &whole])?;
        let name = format!("refs/glis/snap/{SESSION}/9999999999999-0000000{number}");
        git(&house.repo, &["update-ref", &name, commit.trim()])?;
        let to = house.dir.path().join("to").join("deep");
        let fault = house.restore(&name, &to).err().ok_or("it was restored")?;
        assert!(fault.to_string().contains("no worktree can hold"), "{number}: {fault}");
        assert!(!to.exists(), "{number}");
        assert_eq!(fs::read_dir(&outside)?.count(), 0, "{number}");
    }
    Ok(())
}
