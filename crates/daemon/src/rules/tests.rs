//! The rules alone, on requests of this very process.

use super::*;
use glis_approve::Edits;
use glis_core::AskId;
use glis_core::session::Process;
use glis_core::talk::AskKind;
use std::cell::Cell;

#[test]
fn a_verdict_is_that_of_the_rules_as_they_are_when_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    let reject = |pattern: &str| {
        std::fs::write(&file, format!("[auto_yes]\nreject_patterns = [{pattern:?}]\n")).unwrap();
    };
    reject("nothing");
    let settings = Settings::open(file.clone(), dir.path().join("backup")).unwrap();
    let rounds = Cell::new(0);
    let judge_while = |change: &dyn Fn(usize)| {
        rounds.set(0);
        by_present_rules(&settings, |judge| {
            let told = judge.verdict(Request::Other("force push"), None);
            rounds.set(rounds.get() + 1);
            change(rounds.get());
            in_words_of_core(told)
        })
    };
    let manual = |why| verdict::Verdict::manual(why);
    assert_eq!(judge_while(&|_| ()), manual(Unruled::Unknown));
    assert_eq!(rounds.get(), 1);
    // A user forbids it while it is judged.
    let told = judge_while(&|round| {
        if round == 1 {
            reject("force push");
        }
    });
    let (rule, author) = ("force push".to_owned(), verdict::Author::Glis);
    assert_eq!(told, verdict::Verdict::Reject { rule: rule.clone(), author });
    assert_eq!(rounds.get(), 2);
    // What is written before it is judged counts, whether its folder has told of it or not.
    reject("nothing");
    assert_eq!(judge_while(&|_| ()), manual(Unruled::Unknown));
    // A file with a fault changes nothing, and rules without an end are no rules.
    std::fs::write(&file, "[auto_yes]\nreject_patterns = 3\n").unwrap();
    assert_eq!(judge_while(&|_| ()), manual(Unruled::Unknown));
    let told = judge_while(&|round| reject(&"x".repeat(round)));
    assert_eq!((told, rounds.get()), (manual(Unruled::Fault), ROUNDS));
}

/// A session whose agent is this very process, at work in a folder.
fn at_work(tree: &Path) -> Session {
    let pid = i32::try_from(std::process::id()).unwrap();
    let start_ticks = glis_os::process::start_ticks(pid).unwrap();
    let mut session = crate::fill::session();
    session.place.worktree = Some(tree.to_str().unwrap().to_owned());
    session.run.as_mut().unwrap().process =
        Process { pid, start_ticks, boot_id: glis_os::process::boot_id().unwrap() };
    session
}

fn ask(id: &str, text: &str, wants: Option<Want>) -> Ask {
    Ask::new(AskId(id.to_owned()), AskKind::Approval, text).wanting(wants)
}

/// A verdict in one word: the rule, or why there is none.
fn word(told: verdict::Verdict) -> String {
    match told {
        verdict::Verdict::Accept { rule, .. } => format!("accept {rule}"),
        verdict::Verdict::Reject { rule, .. } => format!("reject {rule}"),
        verdict::Verdict::Manual { why, .. } => format!("{why:?}"),
    }
}

fn judge() -> Judge {
    Judge::new(glis_approve::Settings {
        edits: Edits::Folders(vec!["src".to_owned()]),
        ..Default::default()
    })
    .unwrap()
}

#[test]
fn a_command_is_judged_where_its_own_process_would_run_it() {
    let tree = tempfile::tempdir().unwrap();
    let session = at_work(tree.path());
    let told = |session: &Session, line: &str, folder: Option<&Path>| {
        let folder = folder.map(|folder| folder.to_str().unwrap().to_owned());
        let wants = Some(Want::Command { line: line.to_owned(), folder });
        word(verdict_on(&judge(), session, &ask("a", "run it", wants), || false))
    };
    let here = Some(tree.path());
    assert_eq!(told(&session, "ls", here), "accept ls");
    assert_eq!(told(&session, "ls; id", here), "Character");
    assert_eq!(told(&session, "rm -rf x", here), "reject delete|remove|rm -rf");
    assert_eq!(told(&session, "ls", tree.path().parent()), "PathOutside");
    assert_eq!(told(&session, "ls", None), "Place", "it is not said where");
    assert_eq!(told(&session, "ls", Some(Path::new("/nonexistent"))), "Place");
    let mut homeless = session.clone();
    homeless.place.worktree = None;
    assert_eq!(told(&homeless, "ls", here), "Place");
    let mut ended = session.clone();
    ended.run = None;
    assert_eq!(told(&ended, "ls", here), "Place", "no process, no path of programs");
    let mut another = session;
    another.run.as_mut().unwrap().process.start_ticks += 1;
    assert_eq!(told(&another, "ls", here), "Place", "its number belongs to another by now");
}

#[test]
fn what_is_not_on_the_path_is_no_program() {
    let tree = tempfile::tempdir().unwrap();
    let session = at_work(tree.path());
    let are = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        are_programs(&session, &names)
    };
    assert!(are(&["ls", "cat"]));
    assert!(!are(&["ls", "mkcd-of-my-profile"]));
    let mut ended = session.clone();
    ended.run = None;
    assert!(!are_programs(&ended, &["ls".to_owned()]), "no process, no path of programs");
}

#[test]
fn one_file_that_may_not_be_written_is_reason_enough_to_ask() {
    let tree = tempfile::tempdir().unwrap();
    let session = at_work(tree.path());
    let told = |session: &Session, paths: &[&str]| {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        word(verdict_on(&judge(), session, &ask("a", "write", Some(Want::Edit { paths })), || {
            false
        }))
    };
    assert_eq!(told(&session, &["src/a.txt"]), "accept edits");
    assert_eq!(told(&session, &["src/a.txt", "src/b/c.txt"]), "accept edits");
    assert_eq!(told(&session, &["src/a.txt", ".git/config", "src/b.txt"]), "Steers");
    assert_eq!(told(&session, &["src/a.txt", "b.txt"]), "Unlisted");
    assert_eq!(told(&session, &["../a.txt"]), "PathOutside");
    assert_eq!(told(&session, &[]), "Unknown", "nothing is said to be written");
    let mut homeless = session;
    homeless.place.worktree = None;
    assert_eq!(told(&homeless, &["src/a.txt"]), "Place");
}

#[test]
fn what_is_no_command_and_no_edit_is_judged_by_patterns_at_most() {
    let tree = tempfile::tempdir().unwrap();
    let session = at_work(tree.path());
    let told = |id: &str, text: &str, reads: bool| {
        word(verdict_on(&judge(), &session, &ask(id, text, None), || reads))
    };
    assert_eq!(told("a", "Do you want to proceed?", true), "Unknown");
    assert_eq!(told("a", "force push it?", false), "reject force push");
    // On a screen a pattern counts while the program reads.
    assert_eq!(told("screen-1-2", "Go on? [Y/n]", true), r"accept \[Y/n\]");
    assert_eq!(told("screen-1-2", "Go on? [Y/n]", false), "NotReading");
    assert_eq!(told("screen-1-2", "Remove it? [Y/n]", false), "NotReading");
    assert_eq!(told("screen-1-2", "Really? [y/N]", true), "NoPattern");
}
