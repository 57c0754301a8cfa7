//! What was told, and what is a turn without words.

use super::*;

fn entry(at: &str, content: &str) -> Entry {
    Entry {
        timestamp: at.to_owned(),
        voice: Voice::Assistant,
        content: content.to_owned(),
        metadata: serde_json::Map::new(),
    }
}

/// What was told ahead, with the end of the turn before, is not taken for nothing.
#[test]
fn a_turn_is_silent_if_nothing_was_said_in_it() {
    let by = |voice, content| Entry { voice, ..entry("1", content) };
    let said = [by(Voice::User, "a"), by(Voice::Assistant, "b")];
    let done = [by(Voice::User, "a"), by(Voice::Tool, "b"), by(Voice::Assistant, " ")];
    let second = [&said[..], &[by(Voice::User, "c"), by(Voice::Tool, "d")]].concat();
    let after = [&said[..], &[by(Voice::Tool, "d")]].concat();
    for (entries, fresh, expected) in [
        (&said[..], 2, false),
        (&done, 3, true),
        (&second, 4, true),
        // Behind a question the words before it were told with it.
        (&after, 2, true),
        (&[], 0, true),
    ] {
        assert_eq!(is_silent(entries, &entries[fresh..]), expected, "{entries:?}");
    }
}

#[test]
fn what_was_told_is_found_again_also_in_a_shorter_conversation() {
    let all = [entry("1", "a"), entry("2", "b"), entry("2", "c"), entry("3", "d")];
    let told = |mark: &Mark| since(&all, mark).iter().map(|e| e.content.as_str()).collect();
    let seen: Vec<String> = vec![
        told(&mark_of(&all[1])),
        told(&mark_of(&all[3])),
        told(&Mark { at: "2".to_owned(), sum: 0 }),
        told(&Mark { at: "0".to_owned(), sum: 0 }),
        told(&mark_of(&entry("2", "gone"))),
    ];
    assert_eq!(seen, ["cd", "", "d", "abcd", "d"]);
}
