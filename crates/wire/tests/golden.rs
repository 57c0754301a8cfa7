//! What was ever said to a holder, or by one, stays understood: holders outlive upgrades.
//!
//! `golden/hold.jsonl` holds a line of each word, `golden/client.jsonl` one of each request that was added
//! since faces other than ours could speak to the daemon. Lines are added, none is ever edited.

use glis_wire::client::Request;
use glis_wire::hold::{Birth, Launch, Order, Report};
use serde::{Deserialize, Serialize};

const GOLDEN: &str = include_str!("golden/hold.jsonl");
const REQUESTS: &str = include_str!("golden/client.jsonl");

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Order(Order),
    Report(Report),
    Birth(Birth),
    Launch(Launch),
}

/// The name of each variant. A new one stops the compiler here, and then wants a line.
fn name(word: &Word) -> &'static str {
    match word {
        Word::Order(order) => match order {
            Order::Follow { .. } => "follow",
            Order::Watch { .. } => "watch",
            Order::Resize(_) => "resize",
            Order::Signal { .. } => "signal",
            Order::Stop(_) => "stop",
            Order::Lock { .. } => "lock",
            Order::Collected => "collected",
            Order::Environment => "environment",
            Order::Children(_) => "children",
            Order::Freeze { .. } => "freeze",
            Order::Thaw { .. } => "thaw",
            Order::Reading => "reading",
        },
        Word::Report(report) => match report {
            Report::Hello(_) => "hello",
            Report::Output { .. } => "output",
            Report::Wrote { .. } => "wrote",
            Report::Refused { .. } => "refused",
            Report::Ended(_) => "ended",
            Report::Audience { .. } => "audience",
            Report::Resized { .. } => "resized",
            Report::Gap { .. } => "gap",
            Report::Environment { .. } => "environment",
            Report::FolderLost { .. } => "folder_lost",
            Report::Reading { .. } => "reading",
        },
        Word::Birth(_) => "birth",
        Word::Launch(_) => "launch",
    }
}

#[test]
fn every_word_is_understood_and_said_as_it_was() {
    for line in GOLDEN.lines() {
        let word: Word =
            serde_json::from_str(line).map_err(|why| format!("{line}\n{why}")).unwrap();
        assert_eq!(serde_json::to_string(&word).unwrap(), line);
        assert!(line.contains(name(&word)), "{line}");
    }
}

#[test]
fn every_request_is_understood_and_said_as_it_was() {
    for line in REQUESTS.lines() {
        let request: Request =
            serde_json::from_str(line).map_err(|why| format!("{line}\n{why}")).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), line);
    }
}

#[test]
fn words_from_a_later_version_may_have_more_fields() {
    let later = r#"{"output":{"end":9,"colour":"blue"}}"#;
    assert_eq!(serde_json::from_str::<Report>(later).unwrap(), Report::Output { end: 9 });
}

#[test]
fn the_protocols_page_names_every_word_and_every_request() {
    let page = include_str!("../../../docs/protocol.md");
    for line in GOLDEN.lines() {
        let word: Word = serde_json::from_str(line).unwrap();
        if matches!(word, Word::Order(_) | Word::Report(_)) {
            assert!(page.contains(&format!("`{}`", name(&word))), "{}", name(&word));
        }
    }
    let requests = "new list show attach act send pause cancel_pause resume restart stop \
                    remove answer wait log screen output events doctor daemon_status \
                    daemon_stop snapshot snapshots diff restore restore_to search trash trash_act \
                    trash_empty merge plan act_each pause_all resume_all verdicts";
    for request in requests.split_whitespace() {
        assert!(page.contains(&format!("`{request}`")), "{request}");
    }
}
