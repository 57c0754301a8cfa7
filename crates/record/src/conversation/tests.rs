//! Entries written once, found again, and summed up.

use super::*;
use glis_agent::Usage;
use glis_agent::context::{Form, resume_prompt};

fn said(voice: Voice, content: &str) -> Said {
    Said::new(voice, content)
}

#[test]
fn an_entry_heard_twice_is_written_once_also_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
        talk.add(Heard::Stream(10), None, said(Voice::User, "hi")).unwrap();
        talk.add(Heard::Stream(20), None, said(Voice::Assistant, "ho")).unwrap();
    }
    let (entries, damaged) = read_tail(&file_of(dir.path()), u64::MAX).unwrap();
    assert_eq!((entries.len(), damaged), (2, 0));
}

#[test]
fn a_torn_line_and_junk_lose_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    {
        let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
        talk.add(Heard::Ours, None, said(Voice::User, "one")).unwrap();
    }
    let path = file_of(dir.path());
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"junk\xff\n{\"timestamp\":\"x\",\"ty").unwrap();
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    talk.add(Heard::Ours, None, said(Voice::User, "two")).unwrap();
    let (entries, damaged) = read_tail(&path, u64::MAX).unwrap();
    let texts: Vec<_> = entries.iter().map(|e| e.content.as_str()).collect();
    assert_eq!((texts, damaged), (vec!["one", "two"], 2));
}

#[test]
fn what_a_full_disk_refuses_is_written_with_what_comes_next() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    talk.add(Heard::Ours, None, said(Voice::User, "one")).unwrap();
    let (path, file) = (talk.path.clone(), Arc::clone(&talk.file));
    // No room: nothing lies at the path, so that the file is left as it is.
    talk.path = dir.path().join("elsewhere");
    let full = OpenOptions::new().read(true).append(true).open("/dev/full").unwrap();
    talk.file = Arc::new(full);
    talk.add(Heard::Ours, None, said(Voice::User, "two")).unwrap_err();
    talk.add(Heard::Ours, None, said(Voice::User, "three")).unwrap_err();
    // There is room again.
    (talk.path, talk.file) = (path.clone(), file);
    talk.add(Heard::Ours, None, said(Voice::User, "four")).unwrap();
    talk.catch_up().unwrap();
    let (entries, damaged) = read_tail(&path, u64::MAX).unwrap();
    let texts: Vec<_> = entries.iter().map(|e| e.content.as_str()).collect();
    assert_eq!((texts, damaged), (vec!["one", "two", "three", "four"], 0));
}

#[test]
fn a_line_that_another_has_torn_swallows_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    let mut other = OpenOptions::new().append(true).open(&talk.path).unwrap();
    other.write_all(b"{").unwrap();
    talk.add(Heard::Ours, None, said(Voice::User, "whole")).unwrap();
    let (entries, _) = read_tail(&talk.path, u64::MAX).unwrap();
    assert_eq!(entries.iter().map(|e| e.content.as_str()).collect::<Vec<_>>(), ["whole"]);
    assert_eq!(damaged_lines(dir.path()).unwrap(), 0, "its whole copy follows");
}

#[test]
fn what_was_used_is_added_up_once_also_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let used = |cost| Said {
        usage: Some(Usage {
            tokens_in: 10,
            tokens_out: 2,
            cost_micros: Some(cost),
            ..Usage::default()
        }),
        ..said(Voice::System, "")
    };
    for _ in 0..2 {
        let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
        talk.add(Heard::Stream(10), None, used(5)).unwrap();
        talk.add(Heard::Stream(20), None, used(8)).unwrap();
        // Its process was killed, and counts anew.
        talk.add(Heard::Stream(30), None, used(4)).unwrap();
    }
    let account = Digest::of(&file_of(dir.path())).account.unwrap();
    assert_eq!((account.tokens_in, account.tokens_out), (30, 6));
    assert_eq!(account.cost_micros(), Some(12));
}

#[test]
fn a_place_in_a_transcript_belongs_to_one_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    talk.add(Heard::Transcript(500), Some("a"), said(Voice::Assistant, "long")).unwrap();
    // In the same process it goes over to another conversation, comes back, and is heard again.
    talk.add(Heard::Transcript(20), Some("b"), said(Voice::Assistant, "fresh")).unwrap();
    talk.add(Heard::Transcript(500), Some("a"), said(Voice::Assistant, "long")).unwrap();
    let mut talk = Conversation::open(dir.path(), 2, Timestamp::now).unwrap();
    for (at, id, words) in [(500, "a", "long"), (20, "b", "fresh"), (40, "b", "more")] {
        talk.add(Heard::Transcript(at), Some(id), said(Voice::Assistant, words)).unwrap();
    }
    let (entries, _) = read_tail(&file_of(dir.path()), u64::MAX).unwrap();
    let texts: Vec<_> = entries.iter().map(|e| e.content.as_str()).collect();
    assert_eq!(texts, ["long", "fresh", "more"]);
}

#[test]
fn a_fresh_conversation_of_a_fresh_process_counts_its_cost_from_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let cost = |generation, id, cost| {
        let used =
            Usage { tokens_in: 1, tokens_out: 1, cost_micros: Some(cost), ..Usage::default() };
        let said = Said { usage: Some(used), ..said(Voice::System, "") };
        let mut talk = Conversation::open(dir.path(), generation, Timestamp::now).unwrap();
        talk.add(Heard::Ours, Some(id), said).unwrap();
        Digest::of(&file_of(dir.path())).account.unwrap().cost_micros()
    };
    assert_eq!(cost(1, "a", 5), Some(5));
    assert_eq!(cost(2, "a", 7), Some(7), "it knew what it had cost");
    assert_eq!(cost(3, "b", 9), Some(16), "more than the former one, and yet another");
    assert_eq!(cost(3, "c", 11), Some(18), "the same process counts on");
}

#[test]
fn tasks_are_kept_by_number_also_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let opened = |id: &str, subject: &str| {
        let (id, subject) = (id.to_owned(), subject.to_owned());
        Said { task: Some(TaskChange::Opened { id, subject }), ..said(Voice::Tool, "") }
    };
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    for (id, subject) in [("10", "ten"), ("2", "two"), ("1", "one")] {
        talk.add(Heard::Ours, Some("ref"), opened(id, subject)).unwrap();
    }
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    let closed = TaskChange::Closed { id: "1".to_owned() };
    let closed = Said { task: Some(closed), ..said(Voice::Tool, "") };
    talk.add(Heard::Ours, Some("ref"), closed).unwrap();
    assert_eq!(Digest::of(&file_of(dir.path())).pending, ["two", "ten"]);
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    talk.add(Heard::Ours, Some("another"), opened("1", "fresh")).unwrap();
    assert_eq!(Digest::of(&file_of(dir.path())).pending, ["fresh"]);
}

#[test]
fn what_the_user_asked_for_outlives_any_number_of_our_own_prompts() {
    for form in [Form::Full, Form::Short] {
        let dir = tempfile::tempdir().unwrap();
        let path = file_of(dir.path());
        let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
        talk.add(Heard::Ours, None, said(Voice::User, "build the bridge")).unwrap();
        for _ in 0..3 {
            talk.add(Heard::Ours, None, said(Voice::Assistant, "half done")).unwrap();
            let ours = resume_prompt(form, Digest::of(&path).known());
            talk.add(Heard::Ours, None, said(Voice::User, &ours)).unwrap();
            let summary = Digest::of(&path).summary.unwrap();
            assert_eq!(summary, "Asked: build the bridge. Last said: half done");
        }
        let (entries, _) = read_tail(&path, u64::MAX).unwrap();
        let by_glis = |entry: &&Entry| entry.metadata.get("by") == Some(&json!("glis"));
        assert_eq!(entries.iter().filter(by_glis).count(), 3);
    }
}

#[test]
fn a_digest_tells_the_last_action_and_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Conversation::open(dir.path(), 1, Timestamp::now).unwrap();
    talk.add(Heard::Ours, None, said(Voice::User, "fix it")).unwrap();
    let mut list = said(Voice::Assistant, "To do: a; b");
    list.pending = Some(vec!["a".to_owned(), "b".to_owned()]);
    talk.add(Heard::Ours, None, list).unwrap();
    let mut tool = said(Voice::Tool, "ls");
    tool.tool = Some("run".to_owned());
    talk.add(Heard::Ours, None, tool).unwrap();
    let digest = Digest::of(&file_of(dir.path()));
    assert_eq!(digest.last_action.as_deref(), Some("run ls"));
    assert_eq!(digest.pending, ["a", "b"]);
    assert!(digest.summary.unwrap().contains("fix it"));
}
