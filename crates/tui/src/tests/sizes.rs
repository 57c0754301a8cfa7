//! What people see on large terminals, and in the boxes, whole and in both themes.

use super::desk::{Desk, few};
use super::house::{judged, removed};
use crate::message::{Msg, PreviewNews};
use crate::theme::Ground;
use glis_wire::hold::Size;

/// What is shown after these keys in either theme, without the empty rows.
fn check(size: (u16, u16), keys: &str, wanted: &str) {
    for ground in [Ground::Dark, Ground::Light] {
        let mut desk = Desk::with(few(), size, ground);
        let news = PreviewNews::Painted {
            bytes: b"$ cargo test\r\nrunning 3 tests\r\n".to_vec(),
            from: 9,
            size: Size { columns: 80, rows: 20 },
        };
        desk.tell(Msg::Preview { session: "id-fix-login".to_owned(), news });
        for word in keys.split(' ').filter(|word| !word.is_empty()) {
            desk.press(word);
            desk.tell(Msg::Trash(Ok(removed())));
            desk.tell(Msg::Judged(Ok(judged())));
        }
        let frame = desk.frame();
        let shown: Vec<_> = frame.lines().filter(|line| !is_empty(line)).collect();
        assert_eq!(shown.join("\n"), wanted.trim_matches('\n'), "\n{frame}\n");
    }
}

/// Whether a row holds nothing but the rule between the panes.
fn is_empty(line: &str) -> bool {
    line.chars().all(|c| c == ' ' || c == '│')
}

#[test]
fn the_overview_on_a_desk() {
    check((120, 40), "", "
 glis  1 waiting  1 failed  1 busy  4 sessions
 needs you 1                                    │ fix-login  ? waiting  claude
▌ ? fix-login app    Bash: rm -rf target     5m │ glis/fix-login · ~/trees/fix-login
 failed 1                                       │ 1 terminal  2 conversation  3 diff  4 snapshots  5 runs  6 events
  ✗ 日本語    server the agent is not ins…   5m │
 working 1                                      │ ? Bash: rm -rf target
  ● docs      app    (2 queued)              5m │   a answers
 at rest 1                                      │
  ‖ api       server edit src/api.rs         5m │ $ cargo test
                                                │ running 3 tests
 a answer  enter attach  s send  ctrl+x p pause  n new  q quit                                                   ? keys
");
}

#[test]
fn the_overview_on_a_wide_screen() {
    check((200, 50), "j", "
 glis  1 waiting  1 failed  1 busy  4 sessions
 needs you 1                                                                                      │ 日本語  ✗ failed  claude
  ? fix-login  app     claude     Bash: rm -rf target                                          5m │ glis/日本語 · ~/trees/日本語
 failed 1                                                                                         │ 1 terminal  2 conversation  3 diff  4 snapshots  5 runs  6 events
▌ ✗ 日本語     server  claude     the agent is not installed                                   5m │
 working 1                                                                                        │ ✗ the agent is not installed
  ● docs       app     claude     (2 queued)                                            212M   5m │
 at rest 1                                                                                        │
  ‖ api        server  claude     edit src/api.rs                                              5m │
 a answer  R restart  2 what was said  D remove  n new  q quit                                                                                                                                   ? keys
");
}

#[test]
fn a_box_for_a_loop_on_a_usual_terminal() {
    check(
        (80, 24),
        "N Check space a space page",
        "
 glis  1 waiting  1 failed  1 busy  4 sessions
 needs you 1
  ╭─ new loop in app ────────────────────────────────────────────────────────╮
  │ prompt    Check a page                                                   │
  │ name      check-a-page                                                   │
  │ agent     as configured                                                  │
  │ model     the agent's own choice                                         │
  │ base      the current commit                                             │
  │ auto-yes  off: you are asked                                             │
  │ works on  app; or server, or a path                                      │
  │ repeat    loop: the prompt again and again                               │
  │ at most   as many iterations as it takes                                 │
  │ until     a command that succeeds, such as `cargo test`                  │
  │ options   the usual ones                                                 │
  ╰──────────────────────────────────────────────────────────────────────────╯
 running 3 tests
 enter start  tab next field  ctrl+j new line  ctrl+g editor  esc close
",
    );
}

#[test]
fn the_trash_on_a_usual_terminal() {
    check(
        (80, 24),
        "T",
        "
 glis  1 waiting  1 failed  1 busy  4 sessions
 needs you 1
▌ ? fix-login  app     claude     Bash: rm -rf target                        5m
 failed 1
  ✗ 日本語     server  claude     the agent is not installed                 5m
 working 1
 ╭─ trash: nothing in it is deleted yet ──────────────────────────────────────╮
 │ spike    removed 5m ago · kept until 2026-01-31 · claude · glis/spike      │
 │ old-try  removed 31d ago · due · claude · glis/old-try                     │
 ╰────────────────────────────────────────────────────────────────────────────╯
 fix-login  ? waiting  claude
 glis/fix-login · ~/trees/fix-login
 1 terminal  2 conversation  3 diff  4 snapshots  5 runs  6 events
 ? Bash: rm -rf target
   a answers
 $ cargo test
 running 3 tests
 enter restore  r rename  D delete  E delete what is due  esc close
",
    );
}

#[test]
fn what_auto_yes_answered_on_forty_columns() {
    check(
        (40, 24),
        "A",
        "
 glis  1 waiting  1 failed  1 busy
 needs you 1
▌ ? fix-login app    Bash: rm -rf…   5m
 failed 1
  ✗ 日本語    server the agent is…   5m
 working 1
 ╭─ what auto-yes answered ───────────╮
 │   5m docs  Bash: cargo test        │
 │      accept: rule `cargo`, which … │
 │   5m gone  Bash: curl x            │
 │      manual: no rule is about `cu… │
 ╰────────────────────────────────────╯
 1 terminal 2 3 4 5 6
 ? Bash: rm -rf target
   a answers
 $ cargo test
 running 3 tests
 enter show the session  j next
",
    );
}

#[test]
fn a_message_with_a_file_on_forty_columns() {
    check(
        (40, 12),
        "F ~/notes.md enter look",
        "
 glis  1 waiting  1 failed  1 busy
 needs you 1
 ╭─ message to fix-login ─────────────╮
 │ look                               │
 │ + /home/ada/notes.md               │
 ╰────────────────────────────────────╯
  ‖ api       server edit src/api…   5m
 enter send  ctrl+j new line
",
    );
}
