//! What people see, at several sizes and in both themes.

use super::desk::{Desk, few};
use super::views::conversation;
use crate::input::Input;
use crate::message::{Fetched, Msg, PreviewNews};
use crate::patch;
use crate::theme::{Depth, Ground};
use glis_wire::hold::Size;
use ratatui_core::style::{Color, Modifier};
use serde_json::json;

/// What is shown after these keys, without the empty rows.
fn check(size: (u16, u16), keys: &str, wanted: &str) {
    let mut desk = Desk::with(few(), size, Ground::Dark);
    if !keys.is_empty() {
        desk.press(keys);
    }
    let frame = desk.frame();
    let shown: Vec<_> = frame.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(shown.join("\n"), wanted.trim_matches('\n'), "\n{frame}\n");
}

#[test]
fn the_overview_on_a_usual_terminal() {
    check(
        (80, 24),
        "",
        "
 glis  1 waiting  1 failed  1 busy  4 sessions
 needs you 1
▌ ? fix-login  app     claude     Bash: rm -rf target                        5m
 failed 1
  ✗ 日本語     server  claude     the agent is not installed                 5m
 working 1
  ● docs       app     claude     (2 queued)                          212M   5m
 at rest 1
  ‖ api        server  claude     edit src/api.rs                            5m
────────────────────────────────────────────────────────────────────────────────
 fix-login  ? waiting  claude
 glis/fix-login · ~/trees/fix-login
 1 terminal  2 conversation  3 diff  4 snapshots  5 runs  6 events
 ? Bash: rm -rf target
   a answers
 a answer  enter attach  s send  ctrl+x p pause  n new  q quit           ? keys
",
    );
}

#[test]
fn side_by_side_where_there_is_room() {
    check(
        (110, 12),
        "G",
        "
 glis  1 waiting  1 failed  1 busy  4 sessions
 needs you 1                                │ api  ‖ paused  claude
  ? fix-login app    Bash: rm -rf tar…   5m │ glis/api · ~/trees/api
 failed 1                                   │ 1 terminal 2 conversation 3 diff 4 snapshots 5 runs 6 events
  ✗ 日本語    server the agent is not…   5m │
 working 1                                  │ ⏸ PAUSED  Paused 5m ago · by you
  ● docs      app    (2 queued)          5m │   Last Action: edit src/api.rs
 at rest 1                                  │   Pending: write tests · update docs · ship
▌ ‖ api       server edit src/api.rs     5m │
                                            │
                                            │
 a answer  enter attach  s send  u resume  n new  q quit                                               ? keys
",
    );
}

#[test]
fn forty_columns_are_enough() {
    check(
        (40, 12),
        "j",
        "
 glis  1 waiting  1 failed  1 busy
 needs you 1
  ? fix-login app    Bash: rm -rf…   5m
 failed 1
▌ ✗ 日本語    server the agent is…   5m
 working 1
  ● docs      app    (2 queued)      5m
 at rest 1
  ‖ api       server edit src/api…   5m
 a answer  R restart             ? keys
",
    );
}

#[test]
fn a_question_is_shown_whole() {
    check(
        (60, 14),
        "a",
        "
 glis  1 waiting  1 failed  1 busy  4 sessions
▌ ? fix-login  claude  wants to be allowed          app  5m
    Bash: rm -rf target
    $ rm -rf target && cargo build
    in /home/ada/src/app
 y allow  n deny  Y for the session  r with a reason ? keys
",
    );
}

#[test]
fn what_would_be_cut_is_asked_in_a_box() {
    let mut desk = Desk::with(few(), (60, 14), Ground::Dark);
    desk.press("D");
    let frame = desk.frame();
    assert!(frame.contains("Move `fix-login` to the trash? Nothing is deleted."), "{frame}");
    assert!(frame.contains("y yes   n no"), "{frame}");
}

#[test]
fn where_there_is_nothing_it_says_what_to_do() {
    let mut desk = Desk::new(Vec::new());
    let frame = desk.frame();
    assert!(frame.contains("No sessions yet."), "{frame}");
    assert!(frame.contains("n starts an agent in a worktree of its own"), "{frame}");
    desk.model.folders.here = None;
    assert!(desk.frame().contains("start glis inside a git repository"), "{}", desk.frame());
}

#[test]
fn the_terminal_of_the_session_in_hand_is_seen_where_its_cursor_is() {
    let mut desk = Desk::with(few(), (60, 24), Ground::Dark);
    let lines: Vec<_> = (1..=30).map(|n| format!("line {n} 日本\r\n")).collect();
    let bytes = lines.concat().into_bytes();
    let size = Size { columns: 100, rows: 40 };
    let session = "id-fix-login".to_owned();
    let news = PreviewNews::Painted { bytes, from: 9, size };
    desk.tell(Msg::Preview { session: session.clone(), news });
    let output = |at, text: &str| PreviewNews::Output { at, bytes: text.as_bytes().to_vec() };
    // What is known already is not shown twice.
    desk.tell(Msg::Preview { session: session.clone(), news: output(5, "oldtthe prompt> ") });
    desk.tell(Msg::Preview { session: "id-docs".to_owned(), news: output(9, "of another") });
    let frame = desk.frame();
    assert!(frame.contains("\n line 30 日本\n the prompt>"), "{frame}");
    assert!(!frame.contains("line 1 ") && !frame.contains("of another"), "{frame}");
    let buffer = desk.buffer();
    let cursor = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    assert_eq!(cursor.count(), 1);
}

#[test]
fn pages_are_shown_and_scrolled() {
    let mut desk = Desk::with(few(), (60, 24), Ground::Dark);
    desk.press("2");
    let entry = |voice: &str, text: &str| json!({"timestamp": "", "type": voice, "content": text});
    let mut said = vec![entry("user", "please fix\u{1b}[2J it"), entry("assistant", "done")];
    said.extend((0..20).map(|n| entry("tool", &format!("run {n}"))));
    let session = "id-fix-login".to_owned();
    desk.tell(Msg::Fetched { session, result: Ok(conversation(json!(said))) });
    let frame = desk.frame();
    assert!(frame.contains("run 19") && !frame.contains("please fix"), "the end first: {frame}");
    for _ in 0..9 {
        desk.press("pgup");
    }
    let frame = desk.frame();
    assert!(frame.contains("please fix\\u{1b}[2J it") && frame.contains("more"), "{frame}");
}

#[test]
fn a_diff_is_coloured_by_line() {
    let mut desk = Desk::with(few(), (60, 30), Ground::Light);
    desk.press("3");
    let text = "diff --git a/src/a.rs b/src/a.rs\n@@ -1 +1 @@\n-old\n+new\n";
    let session = "id-fix-login".to_owned();
    desk.tell(Msg::Fetched { session, result: Ok(Fetched::Diff(patch::read(text))) });
    let frame = desk.frame();
    assert!(frame.contains("src/a.rs    +1   −1 ■■■■■■■■■■"), "{frame}");
    let row = frame.lines().position(|line| line.starts_with("  1    −old")).expect(&frame);
    let buffer = desk.buffer();
    let colour = |row: usize| buffer.cell((8, u16::try_from(row).unwrap())).unwrap().fg;
    assert_ne!(colour(row), colour(row + 1), "removed and added look different");
}

/// The same text in other colours, and none at all where none are wanted.
#[test]
fn a_theme_changes_colours_and_nothing_else() {
    let dark = Desk::with(few(), (80, 24), Ground::Dark);
    let mut light = Desk::with(few(), (80, 24), Ground::Dark);
    light.tell(Msg::Input(Input::Background(0xfd, 0xf6, 0xe3)));
    assert_eq!(light.model.theme.ground, Ground::Light, "the terminal has told its background");
    assert_eq!(dark.frame(), light.frame());
    assert_ne!(dark.buffer(), light.buffer());
    light.model.theme.depth = Depth::None;
    assert_eq!(dark.frame(), light.frame());
    for cell in light.buffer().content() {
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
    }
}
