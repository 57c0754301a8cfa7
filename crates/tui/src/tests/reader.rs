//! Stories of pages: a conversation with its turns, a diff that is walked, and the room that they have.

use super::desk::{Desk, few};
use super::session;
use super::views::conversation;
use crate::message::{Effect, Fetched, Msg, PreviewNews, Said, Wish};
use crate::model::{Mode, Zoom};
use crate::patch;
use crate::theme::Ground;
use crate::update::unsent;
use glis_core::Status;
use glis_wire::hold::Size;
use glis_wire::view::ChoicesView;
use serde_json::{Value, json};

fn entry(at: &str, voice: &str, content: &str, metadata: &Value) -> Value {
    json!({"timestamp": at, "type": voice, "content": content, "metadata": metadata})
}

/// A turn with a tool of one line and one of several, and what it cost.
fn turn() -> Value {
    json!([
        entry("2026-01-01T00:00:00Z", "user", "fix the *cart*", &json!({})),
        entry(
            "2026-01-01T00:00:02Z",
            "assistant",
            "I **look** at `cart.py`:\n- totals",
            &json!({})
        ),
        entry("2026-01-01T00:00:03Z", "tool", "src/cart.py", &json!({"tool": "Read"})),
        entry(
            "2026-01-01T00:00:04Z",
            "tool",
            "make\ncheck",
            &json!({"tool": "Bash", "outcome": "failed"})
        ),
        entry(
            "2026-01-01T00:01:20Z",
            "system",
            "",
            &json!({"tokens_in": 11_000, "tokens_out": 1000, "cost_micros": 70_000})
        ),
    ])
}

/// A desk at a page of the session in hand, as it has come.
fn at_page(key: &str, page: Fetched) -> Desk {
    let mut desk = Desk::with(vec![session("cart", Status::Idle)], (100, 40), Ground::Dark);
    desk.press(key);
    desk.pass(50);
    desk.tell(Msg::Fetched { session: "id-cart".to_owned(), result: Ok(page) });
    desk
}

#[test]
fn a_conversation_has_times_tools_in_a_row_and_a_rule_for_each_turn() {
    let mut desk = at_page("2", conversation(turn()));
    let frame = desk.frame();
    let row = |words: &str| frame.lines().find(|line| line.contains(words)).unwrap_or(&frame);
    let clock = row("fix the *cart*");
    assert!(clock.contains("▏ fix the *cart*"), "own words stay as they were typed: {frame}");
    assert!(row("you ").contains(':'), "when it was: {frame}");
    assert!(frame.contains("I look at cart.py:") && frame.contains("• totals"), "{frame}");
    assert!(row("Read").contains("· Read src/cart.py") && !frame.contains("check"), "{frame}");
    assert!(row("Bash").contains("▸ Bash make ✗ failed"), "{frame}");
    assert!(row("── turn").contains("── turn ended · 1m · 12k tokens · $0.07 ──"), "{frame}");
    // A tool is opened where the hand is.
    desk.press("l k k enter");
    assert!(desk.frame().contains("▾ Bash make ✗ failed"), "{}", desk.frame());
    assert!(desk.frame().contains("      check"), "{}", desk.frame());
    desk.press("enter");
    assert!(!desk.frame().contains("      check"), "{}", desk.frame());
}

#[test]
fn an_edit_is_a_row_that_opens_to_its_patch() {
    let edit =
        json!({"tool": "Edit", "edit": {"old_string": "a = 1", "new_string": "a = 2\nb = 3"}});
    let path = "/home/ada/trees/cart/src/cart.py";
    let said = json!([entry("2026-01-01T00:00:03Z", "tool", path, &edit)]);
    let mut desk = at_page("2", conversation(said));
    let frame = desk.frame();
    assert!(frame.contains("▸ Edit src/cart.py +2 −1 ") && !frame.contains("-a = 1"), "{frame}");
    desk.press("l enter");
    let frame = desk.frame();
    assert!(frame.contains("▾ Edit src/cart.py +2 −1 "), "{frame}");
    assert!(frame.contains("      -a = 1\n") && frame.contains("      +b = 3\n"), "{frame}");
}

#[test]
fn of_a_conversation_only_what_is_new_is_read() {
    let mut desk = at_page("2", conversation(turn()));
    desk.tell(Msg::Time);
    let asked = desk.event("cart", Status::Busy);
    let asked: Vec<Effect> = asked.into_iter().chain(desk.pass(600)).collect();
    let wish = asked.iter().find_map(|effect| match effect {
        Effect::Fetch { said, .. } => Some(*said),
        _ => None,
    });
    assert_eq!(wish, Some(Wish::From(9000)), "{asked:?}");
    let entries = json!([
        entry("2026-01-01T00:02:00Z", "user", "and the tests", &json!({})),
        entry("2026-01-01T00:02:30Z", "assistant", "they pass", &json!({})),
        // Of a terminal no end of a turn is told.
        entry("2026-01-01T00:03:00Z", "user", "ship it", &json!({})),
    ]);
    let more = Said { entries: serde_json::from_value(entries).unwrap(), from: 9000, next: 9100 };
    let fetched = |said: Said| Msg::Fetched {
        session: "id-cart".to_owned(),
        result: Ok(Fetched::Conversation(said)),
    };
    desk.tell(fetched(more));
    let frame = desk.frame();
    assert!(frame.contains("fix the *cart*") && frame.contains("and the tests"), "{frame}");
    assert!(frame.contains("── turn · 30s ──"), "{frame}");
    // One that is shorter than it was is another one, and read anew.
    let anew = desk.tell(fetched(Said { entries: Vec::new(), from: 9100, next: 40 }));
    let is_anew = |effect: &Effect| matches!(effect, Effect::Fetch { said: Wish::End, .. });
    assert!(anew.iter().any(is_anew), "{anew:?}");
}

#[test]
fn what_was_said_before_is_read_when_the_hand_comes_to_the_beginning() {
    let Fetched::Conversation(whole) = conversation(turn()) else { unreachable!() };
    let end = Said { entries: whole.entries[3..].to_vec(), from: 8000, next: 9000 };
    let mut desk = at_page("2", Fetched::Conversation(end));
    assert!(desk.frame().contains("$0.07 so far"), "what was before is not known");
    assert!(desk.frame().contains("… what was said before is read when"), "{}", desk.frame());
    desk.press("l");
    let asked = desk.typed("g");
    let is_whole = |effect: &Effect| matches!(effect, Effect::Fetch { said: Wish::From(0), .. });
    assert!(asked.iter().any(is_whole), "{asked:?}");
    desk.tell(Msg::Fetched {
        session: "id-cart".to_owned(),
        result: Ok(Fetched::Conversation(whole)),
    });
    assert!(desk.frame().contains("· $0.07 ──"), "{}", desk.frame());
    assert_eq!(desk.model.pane.reader.at, 0, "at its beginning");
}

const PATCH: &str = "diff --git a/src/cart.py b/src/cart.py\nindex 1..2 100644\n--- a/src/cart.py\n+++ b/src/cart.py\n@@ -1,2 +1,3 @@ def total\n one\n-a = 1\n+a = 22\n+\tb\n@@ -9 +10 @@\n-x\n+y\n\\ No newline at end of file\ndiff --git a/old.md b/new.md\nsimilarity index 100%\nrename from old.md\nrename to new.md\n";

fn at_diff() -> Desk {
    at_page("3", Fetched::Diff(patch::read(PATCH)))
}

#[test]
fn a_diff_has_its_files_and_lines_with_numbers() {
    let desk = at_diff();
    let frame = desk.frame();
    assert!(frame.contains("2 files  +3 −2  0 seen"), "{frame}");
    assert!(frame.contains("src/cart.py"), "{frame}");
    assert!(frame.contains("new.md (was old.md)"), "a rename is told: {frame}");
    for row in ["⋯ def total", " 1  1  one", " 2    −a = 1", "    2 +a = 22", "    3 +    b"] {
        assert!(frame.contains(row), "{row:?}: {frame}");
    }
    for noise in ["index 1", "100644", "No newline", "similarity"] {
        assert!(!frame.contains(noise), "{noise:?}: {frame}");
    }
}

#[test]
fn what_is_too_much_for_a_screen_is_said() {
    let lines = |file: usize| {
        let head = format!("diff --git a/f{file} b/f{file}\n@@ -0,0 +1,6000 @@\n");
        head + &"+line\n".repeat(6000)
    };
    let patch: String = (0..10).map(lines).collect();
    let desk = at_page("3", Fetched::Diff(patch::read(&patch)));
    let sheet = &desk.model.pane.sheet;
    let left_out = |words: &str| {
        (0..sheet.rows.len()).filter(|row| sheet.text(*row).starts_with(words)).count()
    };
    assert_eq!((left_out("1001 more lines"), left_out("6001 more lines")), (8, 2));
}

#[test]
fn a_diff_is_walked_ticked_searched_and_copied() {
    let mut desk = at_diff();
    let at = |desk: &Desk| desk.model.pane.sheet.text(desk.model.pane.reader.at).trim().to_owned();
    desk.press("]");
    assert!(matches!(desk.model.mode, Mode::View { words: None }), "the keys are in it");
    assert!(at(&desk).starts_with("src/cart.py ─"), "{}", at(&desk));
    desk.press("n");
    assert_eq!(at(&desk), "⋯ def total");
    desk.press("n n");
    assert_eq!(at(&desk), "⋯ def total", "round and round");
    desk.press("N");
    assert_eq!(at(&desk), "⋯");
    desk.press("]");
    assert!(at(&desk).starts_with("new.md (was old.md)"), "{}", at(&desk));
    desk.press("[ space");
    assert!(desk.frame().contains("1 seen") && at(&desk).starts_with("new.md"), "{}", desk.frame());
    assert!(desk.frame().contains("✓ src/cart.py"), "{}", desk.frame());
    desk.press("/ a space = enter");
    assert_eq!(at(&desk), "2    −a = 1", "round to the first");
    desk.press("n");
    assert_eq!(at(&desk), "2 +a = 22");
    desk.press("N N");
    assert_eq!(at(&desk), "2 +a = 22", "backwards and around");
    // As a patch has them, with their tabs.
    assert_eq!(desk.press("v j y"), "copy \"+a = 22\\n+\\tb\"");
    desk.press("h");
    assert_eq!(desk.model.mode, Mode::List);
}

#[test]
fn comments_on_lines_go_back_as_one_message() {
    let mut desk = at_diff();
    desk.press("] c");
    assert!(desk.frame().contains("a comment goes on a line"), "{}", desk.frame());
    desk.press("j j j j c");
    assert!(desk.frame().contains("comment on src/cart.py:2"), "{}", desk.frame());
    desk.press("why space 22 enter");
    assert!(desk.frame().contains("✎ why 22"), "{}", desk.frame());
    assert!(
        desk.frame().contains("1 comment is not sent: s makes one message"),
        "{}",
        desk.frame()
    );
    assert!(matches!(desk.model.mode, Mode::View { .. }));
    // Whoever leaves now has them in the draft of a message.
    assert!(unsent(&desk.model)["id-cart"].contains("> +a = 22\nwhy 22"));
    desk.press("s");
    let frame = desk.frame();
    assert!(frame.contains("message to cart") && frame.contains("src/cart.py:2"), "{frame}");
    let sent = desk.press("enter");
    let text = r"Comments on your changes:\n\nsrc/cart.py:2\n> +a = 22\nwhy 22";
    assert!(sent.contains(text), "{sent}");
    assert!(!desk.frame().contains("not sent: s makes"), "{}", desk.frame());
}

#[test]
fn a_merge_says_into_what_and_names_are_told_of_several() {
    let mut desk = Desk::new(few());
    desk.press("M");
    assert!(desk.frame().contains("merge it into the branch that it"), "{}", desk.frame());
    desk.press("n");
    let (session, branch) = ("id-fix-login".to_owned(), "main".to_owned());
    desk.tell(Msg::Base { session: session.clone(), branch });
    desk.tell(Msg::Changes { session, files: 3 });
    desk.press("M");
    let words = desk.frame().split_whitespace().collect::<Vec<_>>().join(" ");
    for told in
        ["Commit the work of `fix-login` (3 files differ)", "`main`? No checkout is touched"]
    {
        assert!(words.contains(told), "{}", desk.frame());
    }
    assert!(desk.press("y").contains("merge"), "{}", desk.frame());
    desk.press("space space D");
    assert!(desk.frame().contains("`fix-login`, `日本語`"), "{}", desk.frame());
}

#[test]
fn the_pane_takes_all_of_the_screen_and_the_terminal_its_size() {
    let mut desk = Desk::with(few(), (120, 40), Ground::Dark);
    let painted = PreviewNews::Painted {
        bytes: b"hello".to_vec(),
        from: 5,
        size: Size { columns: 80, rows: 24 },
    };
    let session = "id-fix-login".to_owned();
    desk.tell(Msg::Preview { session: session.clone(), news: painted.clone() });
    let fitted = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Fit { size, .. } => Some((size.columns, size.rows)),
            _ => None,
        })
    };
    let full = desk.typed("+");
    assert_eq!(desk.model.pane.zoom, Zoom::Full);
    assert_eq!(fitted(&full), Some((119, 34)), "{full:?}");
    assert!(!desk.frame().contains("needs you"), "{}", desk.frame());
    assert_eq!(fitted(&desk.pass(100)), None, "once");
    // It is followed anew as one who only looks.
    desk.press("+");
    let list = desk.pass(1);
    assert!(list.iter().any(|effect| matches!(effect, Effect::Follow(_))), "{list:?}");
    let frame = desk.frame();
    assert!(frame.contains("needs you") && !frame.contains("1 terminal"), "{frame}");
    desk.press("+");
    assert_eq!(desk.model.pane.zoom, Zoom::Half);
    // Who may only look gives it no size.
    desk.model.house.access = crate::model::Access::ReadOnly;
    desk.tell(Msg::Preview { session, news: painted });
    assert_eq!(fitted(&desk.typed("+")), None);
}

#[test]
fn what_goes_on_beyond_the_edge_is_marked_and_copied_whole() {
    let mut desk = Desk::with(vec![session("cart", Status::Idle)], (40, 20), Ground::Dark);
    let line = "0123456789".repeat(6);
    let size = Size { columns: 80, rows: 24 };
    let news = PreviewNews::Painted { bytes: line.clone().into_bytes(), from: 60, size };
    desk.tell(Msg::Preview { session: "id-cart".to_owned(), news });
    assert!(desk.frame().contains("┊"), "{}", desk.frame());
    assert_eq!(desk.press("c"), format!("copy {line:?}"));
}

#[test]
fn help_stands_in_groups_and_is_searched() {
    let mut desk = Desk::with(few(), (120, 40), Ground::Dark);
    desk.press("?");
    let frame = desk.frame();
    for group in ["move", "look", "talk", "life", "loops and plans"] {
        let row =
            |line: &str| line.split(['│', '╭']).any(|part| part.contains(&format!(" {group}  ")));
        assert!(frame.lines().any(row), "{group}: {frame}");
    }
    desk.press("/ merge");
    let frame = desk.frame();
    assert!(frame.contains("merge its work") && !frame.contains("next session"), "{frame}");
    desk.press("esc");
    assert_eq!(desk.model.mode, Mode::List);
}

#[test]
fn filters_are_saved_and_come_back_with_a_key() {
    let mut desk = Desk::new(few());
    let tell = |desk: &mut Desk, filters: &[&str]| {
        let filters = filters.iter().map(ToString::to_string).collect();
        let choices = ChoicesView { filters, ..ChoicesView::default() };
        desk.tell(Msg::Choices(Box::new(choices)));
    };
    // They are the daemon's, which keeps them for every face.
    assert_eq!(desk.press("/ docs ctrl+s"), "keep \"docs\"");
    tell(&mut desk, &["docs"]);
    assert!(desk.frame().contains("1 of 4  saved: docs"), "{}", desk.frame());
    assert_eq!(desk.press("ctrl+u server ctrl+s ctrl+u"), "keep \"server\"");
    tell(&mut desk, &["docs", "server"]);
    assert!(desk.frame().contains("saved: docs · server"), "{}", desk.frame());
    desk.press("tab tab");
    assert!(desk.frame().contains("/server"), "{}", desk.frame());
    desk.press("tab");
    assert_eq!(desk.selected(), "docs");
    // The key that has saved it has it forgotten.
    assert_eq!(desk.press("ctrl+s"), "forget \"docs\"");
    tell(&mut desk, &["server"]);
    assert_eq!(desk.model.list.saved.told().as_deref(), Some("saved: server"));
}

#[test]
fn what_was_done_is_searched() {
    let mut desk = Desk::new(few());
    desk.press("j j p b @");
    assert!(desk.frame().contains("glis pause docs"), "{}", desk.frame());
    desk.press("snap");
    let frame = desk.frame();
    assert!(frame.contains("glis snapshot docs") && !frame.contains("glis pause"), "{frame}");
}

#[test]
fn a_list_that_goes_on_says_where_the_hand_is() {
    let sessions: Vec<_> = (0..31).map(|n| session(&format!("s{n:02}"), Status::Busy)).collect();
    let mut desk = Desk::new(sessions);
    desk.press("j j j j");
    let frame = desk.frame();
    assert!(frame.contains("5/31 sessions") && frame.contains("↑↓"), "{frame}");
    desk.press("G");
    let frame = desk.frame();
    assert!(frame.contains("31/31 sessions") && frame.contains("↑"), "{frame}");
}

/// Printed by `cargo nextest run -p glis-tui --run-ignored only --no-capture`.
#[test]
#[ignore = "a measurement"]
fn how_long_many_sessions_and_a_long_conversation_take() {
    let sessions: Vec<_> = (0..2000)
        .map(|n| session(&format!("session-{n}"), Status::ALL[n % Status::ALL.len()]))
        .collect();
    let begun = std::time::Instant::now();
    let desk = Desk::with(sessions, (160, 50), Ground::Dark);
    drop(desk.buffer());
    eprintln!("2,000 sessions listed and drawn: {:?}", begun.elapsed());
    let begun = std::time::Instant::now();
    drop(desk.buffer());
    eprintln!("drawn again: {:?}", begun.elapsed());
    let Value::Array(turn) = turn() else { unreachable!() };
    let said: Vec<Value> = turn.into_iter().cycle().take(10_000).collect();
    let whole = conversation(Value::from(said));
    let begun = std::time::Instant::now();
    let desk = at_page("2", whole);
    eprintln!("10,000 entries laid out: {:?}", begun.elapsed());
    let begun = std::time::Instant::now();
    drop(desk.buffer());
    eprintln!("drawn: {:?}", begun.elapsed());
}
