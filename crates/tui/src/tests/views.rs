//! Every view at every size and in both themes: nothing is written over anything else, everything can be read,
//! and on a usual terminal nothing is cut.

use super::desk::{Desk, few};
use super::house::{judged, removed};
use super::session;
use crate::message::{Fetched, Listed, Msg, Said, Told};
use crate::patch;
use crate::theme::{Depth, Ground, legible};
use crate::view::{cuts, overlaps};
use glis_core::Status;
use glis_wire::view::SessionRow;
use serde_json::json;

/// From the smallest that is promised to the largest that is sold.
const SIZES: [(u16, u16); 5] = [(40, 12), (80, 24), (100, 30), (120, 40), (200, 50)];

/// The keys that lead to each view.
const VIEWS: &[&str] = &[
    "",
    "j",
    "G",
    "2",
    "3",
    "4",
    "5",
    "6",
    "2 l",
    "3 l",
    "3 +",
    "+",
    "+ +",
    "?",
    "? / merge",
    "p @ pau",
    "a",
    "a r",
    "a s",
    "D",
    "R",
    "s",
    "s two ctrl+j lines",
    "n",
    "n tab tab",
    "n Go shift+tab right",
    "N Go shift+tab right shift+tab",
    "N Go shift+tab right shift+tab 0 enter",
    "e",
    "e tab x enter",
    ":",
    ": pause",
    "@",
    "/",
    "/ doc",
    "/ xyzzy",
    "t",
    "t 999 enter",
    "m",
    "r",
    "o",
    "f",
    "f token enter",
    "v j j",
    "p",
    "P",
    "ctrl+x",
    "ctrl+x y",
    "L",
    "L p",
    "i",
    "T",
    "T EMPTY",
    "T D",
    "T r",
    "A",
    "N",
    "n tab tab tab tab tab tab right",
    "n a space few space words tab",
    "N enter",
    "F",
    "F notes.md enter",
    "F enter",
];

/// A loop beside the others, and something of everything that can be told.
fn house() -> Vec<SessionRow> {
    let mut all = few();
    all.push(super::loops::looped("running", Status::Busy));
    all
}

/// A view, after its keys. `L` is no key: the loop is in hand; nor is `EMPTY`: nothing is in the trash.
fn desk(size: (u16, u16), ground: Ground, keys: &str) -> Desk {
    let mut desk = Desk::with(house(), size, ground);
    desk.model.theme.depth = Depth::True;
    desk.tell(Msg::Changes { session: "id-docs".to_owned(), files: 12 });
    let keys = keys.strip_prefix('L').map_or(keys, |rest| {
        desk.model.hand.selected = Some("id-my-session".to_owned());
        rest.trim()
    });
    for word in keys.split(' ').filter(|word| !word.is_empty() && *word != "EMPTY") {
        desk.press(word);
        desk.pass(50);
        // What is fetched for a list comes as soon as it is open.
        desk.tell(Msg::Trash(Ok(if keys.ends_with("EMPTY") { Vec::new() } else { removed() })));
        desk.tell(Msg::Judged(Ok(judged())));
        let result = Ok(Box::new(super::plans::found()));
        desk.tell(Msg::Plan { repo: super::plans::REPO.to_owned(), file: String::new(), result });
    }
    if let Some(page) = page(keys) {
        let session = desk.model.hand.selected.clone().unwrap();
        desk.tell(Msg::Fetched { session, result: Ok(page) });
    }
    desk
}

/// A whole conversation.
pub(super) fn conversation(entries: serde_json::Value) -> Fetched {
    let entries: Vec<_> = serde_json::from_value(entries).unwrap();
    Fetched::Conversation(Said { entries, from: 0, next: 9000 })
}

/// What a view shows once it has come.
fn page(keys: &str) -> Option<Fetched> {
    let at = "2026-01-01T00:00:00Z";
    Some(match keys {
        "2" | "2 l" => {
            let said = json!([
                {"timestamp": at, "type": "user", "content": "please fix the login"},
                {"timestamp": at, "type": "tool", "content": "cargo test",
                    "metadata": {"tool": "Bash", "outcome": "failed"}},
                {"timestamp": at, "type": "system", "content": "",
                    "metadata": {"outcome": "completed"}},
                {"timestamp": at, "type": "assistant", "content": "done ".repeat(60)},
            ]);
            conversation(said)
        }
        "3" | "3 l" | "3 +" => {
            let text = "diff --git a/src/a.rs b/src/a.rs\n@@ -1 +1 @@\n-old\n+new\n".repeat(3);
            Fetched::Diff(patch::read(&text))
        }
        "4" | "o" => {
            let saved = json!([{"ref": "snap-1", "commit": "0123456789", "at": at, "why": "pause",
                "changed": 2, "not_captured": [], "since_before": null}]);
            Fetched::Snapshots(serde_json::from_value(saved).unwrap())
        }
        "5" => Fetched::Runs(vec![run("paused", Some("user")), run("succeeded", None)]),
        "6" => Fetched::Events(vec![
            json!({"seq": 41, "at": at, "event": "turn_ended", "status": "idle"}),
        ]),
        _ => return None,
    })
}

pub(super) fn run(state: &str, why: Option<&str>) -> glis_wire::plan::RunView {
    serde_json::from_value(json!({
        "schema_version": 1, "run_id": "r-1", "task_id": "login", "state": state,
        "provider": "claude", "provider_session_ref": null, "resumable": true,
        "repo_root": "/home/ada/src/app", "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z", "paused_at": null, "pause_reason": why,
        "resumed_from_run_id": null, "restart_of_run_id": null, "superseded_by_run_id": null,
        "plan": "p-1", "session": "id-fix-login", "session_name": "fix-login", "worktree": null,
        "branch": null, "forced": false, "finishing": false, "moves": false, "asks": null,
        "undelivered": null, "unmerged": null, "fault": null, "commit": null,
    }))
    .unwrap()
}

#[test]
fn no_view_writes_over_itself_at_any_size() {
    for size in SIZES {
        for keys in VIEWS {
            let desk = desk(size, Ground::Dark, keys);
            overlaps();
            let frame = desk.frame();
            let found = overlaps();
            assert_eq!(found, Vec::<String>::new(), "{size:?} after {keys:?}:\n{frame}");
        }
    }
}

#[test]
fn a_process_that_a_pause_has_kept_is_told() {
    let mut desk = desk((80, 30), Ground::Dark, "");
    assert!(!desk.frame().contains("process kept"));
    let mut kept = desk.model.rows.all.values().find(|s| s.name == "api").cloned().unwrap();
    kept.process_kept = true;
    desk.seen(kept);
    let frame = desk.frame();
    let told = frame.lines().any(|line| line.contains("api ") && line.contains("process kept"));
    assert!(told, "{frame}");
}

#[test]
fn on_a_usual_terminal_nothing_is_cut() {
    for size in [(80, 24), (200, 50)] {
        for keys in VIEWS {
            let desk = desk(size, Ground::Dark, keys);
            cuts();
            let frame = desk.frame();
            let found = cuts();
            assert_eq!(found, Vec::<String>::new(), "{size:?} after {keys:?}:\n{frame}");
        }
    }
}

#[test]
fn everything_that_is_drawn_can_be_read_in_both_themes() {
    for keys in VIEWS {
        let frames = [Ground::Dark, Ground::Light].map(|ground| {
            let desk = desk((80, 24), ground, keys);
            for cell in desk.buffer().content() {
                assert!(legible(cell, ground), "after {keys:?}: {cell:?}\n{}", desk.frame());
            }
            desk.frame()
        });
        assert_eq!(frames[0], frames[1], "after {keys:?}");
    }
}

/// What happened and what to do about it are told whole, in as many rows as that takes.
#[test]
fn a_failure_is_told_whole_with_its_next_step() {
    let message = "cannot compact `fix-login`, status: idle".to_owned();
    // The next step is a key.
    let rest = "ends its process and keeps everything; then it can be compacted";
    let told = Told { message, hint: Some(format!("`glis stop fix-login` {rest}")) };
    for size in [(40, 24), (80, 24), (200, 50)] {
        let mut desk = Desk::with(few(), size, Ground::Dark);
        desk.tell(Msg::Failed(told.clone()));
        cuts();
        overlaps();
        let words: Vec<_> = desk.frame().split_whitespace().map(ToOwned::to_owned).collect();
        let found = words.join(" ");
        assert!(
            found.contains(&format!("✗ {} S {rest}", told.message)),
            "{size:?}\n{}",
            desk.frame()
        );
        assert_eq!(overlaps(), Vec::<String>::new(), "{size:?}");
    }
}

#[test]
fn the_runs_of_a_task_are_a_view() {
    let frame = desk((80, 24), Ground::Dark, "5").frame();
    assert!(frame.contains("  5m  paused      login  r-1  by you"), "{frame}");
    assert!(frame.contains("  5m  succeeded   login  r-1"), "{frame}");
}

#[test]
fn a_daemon_that_is_lost_is_said_over_what_was_last_known() {
    let mut desk = Desk::new(few());
    let told = Told { message: "the daemon is gone".to_owned(), hint: Some("wait".to_owned()) };
    desk.tell(Msg::Lost(told.clone()));
    let frame = desk.frame();
    assert!(frame.contains("no daemon, trying again") && frame.contains("fix-login"), "{frame}");
    desk.tell(Msg::Listed(Listed {
        sessions: few(),
        more: 0,
        last_seq: 9,
        gate: "running".to_owned(),
    }));
    assert!(!desk.frame().contains("no daemon"), "{}", desk.frame());
    let mut empty = Desk::new(Vec::new());
    empty.tell(Msg::Lost(told));
    let frame = empty.frame();
    assert!(frame.contains("the daemon is gone") && !frame.contains("No sessions"), "{frame}");
}

#[test]
fn emoji_and_wide_letters_take_the_columns_that_they_have() {
    let names = ["🚀 ship", "👩‍💻 pair", "❤️ care", "日本語", "e\u{301}te\u{301}", "🇺🇳 flag"];
    let desk = Desk::new(names.map(|name| session(name, Status::Busy)).to_vec());
    let buffer = desk.buffer();
    // None of the names has this letter of the agent's.
    let is_d = |x: u16, y: u16| buffer.cell((x, y)).is_some_and(|cell| cell.symbol() == "d");
    let words = |y: u16| (0..80_u16).find(|x| is_d(*x, y));
    let columns: Vec<_> = (2..8).map(words).collect();
    assert!(
        columns.iter().all(|column| column.is_some() && *column == columns[0]),
        "{columns:?} {}",
        desk.frame()
    );
}
