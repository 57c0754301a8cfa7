//! A short conversation loses no word, whatever happens beside it.

use super::*;
use crate::conversation::{Conversation, Digest, Heard, damaged_lines, each, read_on, read_tail};
use crate::search::{Source, search};
use glis_agent::{Said, Usage};
use std::io::Write as _;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

struct Rig {
    dir: tempfile::TempDir,
}

impl Rig {
    /// A conversation of so many entries.
    fn with(entries: u64) -> Self {
        let rig = Self { dir: tempfile::tempdir().unwrap() };
        rig.grow(1, entries);
        rig
    }

    fn talk(&self) -> Conversation {
        Conversation::open(self.dir.path(), 1, Timestamp::now).unwrap()
    }

    fn grow(&self, from: u64, to: u64) {
        let mut talk = self.talk();
        for n in from..=to {
            let voice = if n % 2 == 1 { Voice::User } else { Voice::Assistant };
            talk.add(Heard::Stream(n * 10), Some("ref"), Said::new(voice, format!("word{n}")))
                .unwrap();
        }
    }

    fn path(&self) -> PathBuf {
        file_of(self.dir.path())
    }

    fn compact(&self) -> Compacted {
        let plan = Plan::of(self.dir.path()).unwrap();
        assert!(plan.is_worth_it());
        plan.carry_out(plan.extract.clone(), now()).unwrap()
    }

    /// Everything that was said, in order.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        each(&self.path(), |entry| words.push(entry.content)).unwrap();
        words
    }

    /// The same as somebody who follows it reads it.
    fn followed(&self, mut at: u64) -> (Vec<String>, u64) {
        let mut words = Vec::new();
        loop {
            let (entries, to) = read_on(&self.path(), at, 100).unwrap();
            if to == at {
                return (words, at);
            }
            at = to;
            words.extend(entries.into_iter().map(|entry| entry.content));
        }
    }

    fn found(&self, words: &str) -> usize {
        let file = self.path();
        let source = Source { id: "s".to_owned(), name: "s".to_owned(), file };
        search(self.dir.path(), &[source], words, 1000).unwrap().len()
    }

    fn lines(&self) -> usize {
        std::fs::read_to_string(self.path()).unwrap().lines().count()
    }
}

fn numbered(from: u64, to: u64) -> Vec<String> {
    (from..=to).map(|n| format!("word{n}")).collect()
}

#[test]
fn every_word_and_every_offset_stays() {
    let rig = Rig::with(120);
    let long = std::fs::read(rig.path()).unwrap();
    let (_, end) = rig.followed(0);
    assert_eq!(rig.found("word7"), 11);
    let done = rig.compact();
    assert_eq!(done.entries, 70);
    assert_eq!(std::fs::read(rig.dir.path().join(&done.original)).unwrap(), long, "byte for byte");
    assert_eq!(rig.lines(), 51);
    assert_eq!(rig.words(), numbered(1, 120));
    assert_eq!(rig.followed(0), (numbered(1, 120), end));
    // What was read to the end before goes on there, and what was indexed is not found twice.
    rig.grow(121, 125);
    assert_eq!(rig.followed(end).0, numbered(121, 125));
    assert_eq!(rig.found("word7"), 11);
    assert_eq!(rig.found("word123"), 1);
    assert_eq!(rig.found("word5"), 11);
    // And once more, on top of it.
    rig.grow(126, 200);
    rig.compact();
    assert_eq!(rig.lines(), 51);
    assert_eq!(rig.words(), numbered(1, 200));
    assert_eq!(rig.followed(end).0, numbered(121, 200));
    assert_eq!(rig.found("word123"), 1);
    assert_eq!(rig.found("Compacted"), 0, "nobody said that");
}

#[test]
fn what_was_heard_before_is_not_written_again_afterwards() {
    let rig = Rig::with(120);
    rig.compact();
    rig.grow(1, 120);
    assert_eq!(rig.words(), numbered(1, 120));
    // Also where the long file was deleted.
    for entry in std::fs::read_dir(rig.dir.path()).unwrap().flatten() {
        if entry.path() != rig.path() && entry.path().extension().is_some_and(|e| e == "jsonl") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    rig.grow(1, 121);
    assert_eq!(rig.words(), numbered(71, 121));
    assert_eq!(rig.followed(0).0, numbered(71, 121));
}

#[test]
fn what_was_used_and_what_is_to_do_is_carried_on() {
    let rig = Rig::with(1);
    let mut talk = rig.talk();
    let usage =
        Some(Usage { tokens_in: 7, tokens_out: 3, cost_micros: Some(5), ..Usage::default() });
    let said = Said { usage, ..Said::new(Voice::System, "") };
    talk.add(Heard::Stream(11), Some("ref"), said).unwrap();
    let pending = Some(vec!["mend it".to_owned()]);
    let said = Said { pending, ..Said::new(Voice::Tool, "plan") };
    talk.add(Heard::Stream(12), Some("ref"), said).unwrap();
    rig.grow(2, 120);
    let before = Digest::of(&rig.path());
    rig.compact();
    assert_eq!(Digest::of(&rig.path()), before);
    assert_eq!(before.pending, ["mend it"]);
    let mut talk = rig.talk();
    let usage = Some(Usage { tokens_in: 1, tokens_out: 1, cost_micros: None, ..Usage::default() });
    let said = Said { usage, ..Said::new(Voice::System, "") };
    talk.add(Heard::Stream(5000), Some("ref"), said).unwrap();
    let account = Digest::of(&rig.path()).account.unwrap();
    assert_eq!((account.tokens_in, account.tokens_out, account.cost_micros()), (8, 4, Some(5)));
}

/// Story 12.
#[test]
fn a_torn_last_line_and_junk_in_the_middle_survive() {
    let rig = Rig::with(60);
    let mut file = File::options().append(true).open(rig.path()).unwrap();
    file.write_all(b"junk\xff\n\n{\"half\": \n").unwrap();
    rig.grow(61, 120);
    file.write_all(b"{\"timestamp\":\"x\",\"ty").unwrap();
    assert_eq!(damaged_lines(rig.dir.path()).unwrap(), 3);
    rig.compact();
    assert_eq!(rig.words(), numbered(1, 120));
    assert_eq!(damaged_lines(rig.dir.path()).unwrap(), 3);
    rig.grow(121, 122);
    assert_eq!(rig.words(), numbered(1, 122));
    assert_eq!(damaged_lines(rig.dir.path()).unwrap(), 3);
}

#[test]
fn what_is_appended_meanwhile_stays_whoever_appends_it() {
    let rig = Rig::with(120);
    let mut talk = rig.talk();
    let plan = Plan::of(rig.dir.path()).unwrap();
    let mut say = |n: u64| {
        let said = Said::new(Voice::User, format!("word{n}"));
        talk.add(Heard::Stream(n * 10), Some("ref"), said).unwrap();
    };
    say(121);
    plan.carry_out(plan.extract.clone(), now()).unwrap();
    // By a writer that has had the long file open all the time.
    say(122);
    assert_eq!(rig.words(), numbered(1, 122));
    let writers: Vec<_> = (0..4u64)
        .map(|who| {
            let dir = rig.dir.path().to_owned();
            std::thread::spawn(move || {
                let mut talk = Conversation::open(&dir, 1, Timestamp::now).unwrap();
                for n in 0..300 {
                    let said = Said::new(Voice::Assistant, format!("by{who} {n}"));
                    talk.add(Heard::Ours, None, said).unwrap();
                }
            })
        })
        .collect();
    let mut rounds = 0;
    while !writers.iter().all(std::thread::JoinHandle::is_finished) || rounds == 0 {
        let plan = Plan::of(rig.dir.path()).unwrap();
        if plan.is_worth_it() {
            plan.carry_out(plan.extract.clone(), Timestamp::now()).unwrap();
            rounds += 1;
        }
    }
    for writer in writers {
        writer.join().unwrap();
    }
    let words = rig.words();
    assert_eq!(words.len(), 122 + 4 * 300);
    for who in 0..4 {
        let own: Vec<_> =
            words.iter().filter(|word| word.starts_with(&format!("by{who} "))).cloned().collect();
        let expected: Vec<_> = (0..300).map(|n| format!("by{who} {n}")).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn a_failure_changes_nothing() {
    let rig = Rig::with(120);
    let before = std::fs::read(rig.path()).unwrap();
    let names = || {
        let entries = std::fs::read_dir(rig.dir.path()).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let there = names();
    let plan = Plan::of(rig.dir.path()).unwrap();
    // A power cut right before the short file took its place.
    std::fs::hard_link(rig.path(), rig.dir.path().join("conversation.20260101T000000.jsonl"))
        .unwrap();
    assert_eq!(rig.words(), numbered(1, 120));
    std::fs::remove_file(rig.dir.path().join("conversation.20260101T000000.jsonl")).unwrap();
    // Another program has put its own file there.
    std::fs::rename(rig.path(), rig.dir.path().join("aside")).unwrap();
    std::fs::write(rig.path(), "other\n").unwrap();
    assert!(plan.carry_out(plan.extract.clone(), now()).is_err());
    std::fs::rename(rig.dir.path().join("aside"), rig.path()).unwrap();
    // It was emptied.
    File::options().write(true).open(rig.path()).unwrap().set_len(10).unwrap();
    assert!(plan.carry_out(plan.extract.clone(), now()).is_err());
    std::fs::write(rig.path(), &before).unwrap();
    assert_eq!(names(), there);
    assert_eq!(rig.words(), numbered(1, 120));
}

#[test]
fn a_part_that_names_itself_or_a_stranger_leads_nowhere() {
    let rig = Rig::with(120);
    let done = rig.compact();
    let text = std::fs::read_to_string(rig.path()).unwrap();
    for other in ["conversation.jsonl", "../../../etc/passwd", "/etc/passwd", ""] {
        std::fs::write(rig.path(), text.replace(&done.original, other)).unwrap();
        assert_eq!(rig.words(), numbered(71, 120), "{other}");
    }
}

#[test]
fn short_conversations_are_left_alone() {
    for (entries, worth) in [(0, false), (50, false), (51, true)] {
        let plan = Plan::of(Rig::with(entries).dir.path()).unwrap();
        assert_eq!((plan.entries as u64, plan.is_worth_it()), (entries, worth));
    }
}

#[test]
fn the_first_line_of_the_file_tells_what_was_before() {
    let rig = Rig::with(120);
    rig.compact();
    let text = std::fs::read_to_string(rig.path()).unwrap();
    let first: Entry = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first.voice, Voice::System);
    assert!(
        first
            .content
            .starts_with("[Compacted History]\nWhat the user asked for, in order:\n1. word1\n")
    );
    assert_eq!(compacted(rig.dir.path()).unwrap().unwrap().by, By::Extract);
    let (tail, _) = read_tail(&rig.path(), u64::MAX).unwrap();
    assert_eq!(tail.len(), 120);
}

#[test]
fn an_extract_has_every_request_and_what_came_of_it() {
    let rig = Rig::with(0);
    let mut talk = rig.talk();
    let mut say = |said: Said| talk.add(Heard::Ours, None, said).unwrap();
    say(Said::new(Voice::User, "[glis] 2 files changed.\n\nadd a lock"));
    say(Said::tool("Edit", "src/lock.rs"));
    say(Said::denied("Bash", "rm -rf target"));
    say(Said::tool("Bash", "cargo clean"));
    say(Said { pending: Some(vec!["test it".to_owned()]), ..Said::new(Voice::Tool, "plan") });
    say(Said::new(Voice::User, "and a test"));
    say(Said::tool("write", r#"{"path":"tests/lock.rs","text":"a.b"}"#));
    say(Said::new(Voice::Assistant, "Both are done."));
    let summary = extract(&rig.path()).unwrap();
    assert_eq!(
        summary.summary,
        "What the user asked for, in order:\n1. add a lock\n2. and a test\n\n\
         To do:\n1. test it\n\n\
         Files changed:\n1. src/lock.rs\n2. tests/lock.rs\n\n\
         What did not work:\n1. denied: Bash rm -rf target; then: Bash cargo clean\n\n\
         Last action:\nBoth are done.\n\n\
         Last words:\nBoth are done."
    );
    assert_eq!(summary.pending_tasks, ["test it"]);
}

#[test]
fn what_failed_has_changed_no_file() {
    let rig = Rig::with(0);
    let mut talk = rig.talk();
    let mut say = |said: Said| talk.add(Heard::Ours, None, said).unwrap();
    // Two at once.
    say(Said::tool("Edit", "src/two.rs"));
    say(Said::tool("Edit", "src/one.rs"));
    say(Said::failed("Edit", "src/two.rs"));
    // What was changed before stays so, whatever fails on it later.
    say(Said::tool("Edit", "src/one.rs"));
    say(Said::failed("Edit", "src/one.rs"));
    say(Said::tool("Write", "src/three.rs"));
    say(Said::denied("Write", "src/three.rs"));
    let told = extract(&rig.path()).unwrap().summary;
    assert!(told.contains("Files changed:\n1. src/one.rs\n\n"), "{told}");
    let failures = "What did not work:\n1. failed: Edit src/two.rs; then: Edit src/one.rs\n\
                    2. failed: Edit src/one.rs\n3. denied: Write src/three.rs";
    assert!(told.contains(failures), "{told}");
}
