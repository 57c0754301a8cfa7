//! Stories of hands at a terminal: typing into it, looking back in it, pointing at it, copying from it.

use super::desk::{Desk, few};
use super::session;
use crate::input::{Click, Focus, Input, Mouse};
use crate::message::{Effect, Msg, PreviewNews, Tab, Told};
use crate::model::Mode;
use crate::theme::Ground;
use glis_core::Status;
use glis_screen::Look;
use glis_wire::hold::Size;

/// A desk with the terminal of `fix-login` in sight, which shows these bytes.
fn at_terminal(bytes: &str) -> Desk {
    let mut desk = Desk::with(few(), (110, 24), Ground::Dark);
    show(&mut desk, bytes);
    desk
}

fn show(desk: &mut Desk, bytes: &str) {
    let size = Size { columns: 80, rows: 10 };
    let news = PreviewNews::Painted { bytes: bytes.as_bytes().to_vec(), from: 9, size };
    desk.tell(Msg::Preview { session: "id-fix-login".to_owned(), news });
}

fn point(desk: &mut Desk, what: Click, (column, row): (u16, u16), number: u16) -> Vec<Effect> {
    desk.tell(Msg::Input(Input::Mouse(Mouse { what, column, row, number })))
}

/// Where a text stands on the screen.
fn place(desk: &Desk, text: &str) -> (u16, u16) {
    let frame = desk.frame();
    let at = frame.lines().enumerate().find_map(|(row, line)| {
        let (before, _) = line.split_once(text)?;
        Some((before.chars().count(), row))
    });
    let (column, row) = at.unwrap_or_else(|| panic!("no {text} in\n{frame}"));
    (u16::try_from(column).unwrap(), u16::try_from(row).unwrap())
}

#[test]
fn every_key_but_one_goes_to_the_terminal() {
    let mut desk = at_terminal("prompt> ");
    assert_eq!(desk.press("i"), "");
    assert!(desk.frame().contains("YOUR KEYS GO TO fix-login  ·  ctrl+q takes them back"));
    assert_eq!(desk.press("q"), "type id-fix-login \"q\"");
    for (keys, bytes) in [
        ("ctrl+c", "\\u{3}"),
        ("ctrl+x", "\\u{18}"),
        ("ctrl+z", "\\u{1a}"),
        ("esc", "\\u{1b}"),
        ("?", "?"),
        ("enter", "\\r"),
        ("up", "\\u{1b}[A"),
    ] {
        assert_eq!(desk.press(keys), format!("type id-fix-login \"{bytes}\""), "{keys}");
    }
    desk.tell(Msg::Input(Input::Pasted("two\nlines".to_owned())));
    let back = desk.tell(Msg::Input(Input::Key(crate::chord::Chord::ctrl('q'))));
    assert_eq!(back, [Effect::Follow(Some("id-fix-login".to_owned()))], "no longer attached");
    assert_eq!(desk.model.mode, Mode::List);
}

/// What is typed blindly must never become a command.
#[test]
fn keys_for_a_process_that_has_ended_go_nowhere() {
    let mut desk = at_terminal("prompt> ");
    desk.press("i");
    desk.tell(Msg::Preview { session: "id-fix-login".to_owned(), news: PreviewNews::Ended });
    assert_eq!(desk.press("D y q ctrl+c"), "");
    assert!(matches!(desk.model.mode, Mode::Inline { .. }));
    assert!(desk.frame().contains("keys are not typed"), "{}", desk.frame());
    // Its next process has them again.
    let mut again = session("fix-login", Status::Idle);
    again.generation = 2;
    desk.seen(again);
    show(&mut desk, "again> ");
    assert_eq!(desk.press("y"), "type id-fix-login \"y\"");
    desk.event("fix-login", Status::Archived);
    assert_eq!(desk.press("D y q"), "", "not even where it is gone altogether");
    assert_eq!(desk.press("ctrl+q q"), "quit");
}

#[test]
fn where_there_is_no_terminal_nothing_is_typed() {
    let mut headless = session("docs", Status::Idle);
    headless.mode = glis_core::spec::Mode::Headless;
    let mut desk = Desk::new(vec![headless]);
    let told = desk.press("i hello enter");
    assert_eq!(told, "send id-docs \"hello\", keep 1 drafts", "what is typed is a message");
    let mut small = Desk::with(few(), (80, 10), Ground::Dark);
    small.press("i");
    assert_eq!(small.model.mode, Mode::List);
    assert!(small.frame().contains("enter attaches to it"), "{}", small.frame());
}

/// Its holder is there a moment after the start that was told.
#[test]
fn a_terminal_is_followed_again_while_something_runs() {
    let mut desk = Desk::with(vec![few().remove(1)], (110, 24), Ground::Dark);
    show(&mut desk, "old> ");
    let follow = [Effect::Follow(Some("id-fix-login".to_owned()))];
    let mut again = session("fix-login", Status::Resuming);
    again.generation = 2;
    desk.seen(again.clone());
    assert_eq!(desk.pass(50), follow);
    // The picture came before the process: it is the last one of the former.
    show(&mut desk, "old> ");
    desk.tell(Msg::Preview { session: "id-fix-login".to_owned(), news: PreviewNews::Ended });
    assert_eq!(desk.pass(5000), [], "nothing runs");
    (again.status, again.pid) = (Status::Idle, Some(7));
    assert!(
        desk.tell(Msg::Seen(vec![crate::message::Seen::There(Box::new(again))]))
            .contains(&follow[0])
    );
    assert_eq!(desk.pass(5000), [], "one picture at a time");
    show(&mut desk, "old> ");
    desk.tell(Msg::Preview { session: "id-fix-login".to_owned(), news: PreviewNews::Ended });
    desk.press("i");
    assert!(desk.frame().contains("nothing runs in fix-login"), "{}", desk.frame());
    assert_eq!(desk.press("x"), "");
    assert!(desk.frame().contains("not typed"), "{}", desk.frame());
    assert_eq!(desk.pass(1000), follow, "it is tried again");
    show(&mut desk, "new> ");
    assert_eq!(desk.press("x"), "type id-fix-login \"x\"");
    assert_eq!(desk.pass(5000), []);
    desk.event("fix-login", Status::Archived);
    assert!(desk.frame().contains("nothing runs in fix-login:"), "by its name: {}", desk.frame());
}

#[test]
fn an_escape_and_a_key_right_behind_it_are_two_keys() {
    let quick = |desk: &mut Desk, c: char| {
        let chord = crate::chord::Chord::plain(crate::chord::Code::Char(c));
        desk.tell(Msg::Input(Input::Meta(chord)))
    };
    let mut desk = at_terminal("prompt> ");
    desk.press("n half");
    assert!(quick(&mut desk, 'q').contains(&Effect::Quit), "the box is closed, then we leave");
    desk.press("i");
    let bytes = b"\x1bq".to_vec();
    let typed = [Effect::Type { session: "id-fix-login".to_owned(), bytes }];
    assert_eq!(quick(&mut desk, 'q'), typed, "at its terminal it is what the terminal makes of it");
    let keys = [("list".to_owned(), [("pause".to_owned(), vec!["alt+p".to_owned()])].into())];
    desk.press("ctrl+q");
    desk.model.keys = crate::keymap::KeyMap::with(&keys.into()).unwrap();
    let paused = quick(&mut desk, 'p');
    assert!(paused.iter().any(|effect| matches!(effect, Effect::Call { .. })), "{paused:?}");
}

#[test]
fn the_mouse_is_the_agents_where_it_asked_for_it_and_ours_with_shift() {
    let mut desk = at_terminal("\x1b[?1000h\x1b[?1006hclick me");
    let there = place(&desk, "click me");
    assert_eq!(point(&mut desk, Click::Pressed, there, 0), [], "not before the keys are its own");
    desk.press("i");
    let typed = point(&mut desk, Click::Pressed, there, 0);
    let bytes = b"\x1b[<0;1;1M".to_vec();
    assert_eq!(typed, [Effect::Type { session: "id-fix-login".to_owned(), bytes }]);
    assert_eq!(point(&mut desk, Click::Pressed, there, 4), []);
    point(&mut desk, Click::Dragged, (there.0 + 4, there.1), 36);
    let copied = point(&mut desk, Click::Released, (there.0 + 4, there.1), 4);
    assert_eq!(copied, [Effect::Copy("click".to_owned())]);
    // Who points at another session has the keys in the list.
    let docs = place(&desk, "docs");
    point(&mut desk, Click::Pressed, docs, 0);
    assert_eq!((&desk.model.mode, desk.selected()), (&Mode::List, "docs"));
}

#[test]
fn sessions_tabs_and_keys_can_be_pointed_at() {
    let mut desk = Desk::with(few(), (110, 24), Ground::Dark);
    let api = place(&desk, "api");
    point(&mut desk, Click::Pressed, api, 0);
    assert_eq!(desk.selected(), "api");
    let diff = place(&desk, "3 diff");
    point(&mut desk, Click::Pressed, diff, 0);
    assert_eq!(desk.model.pane.tab, Tab::Diff);
    let resume = place(&desk, "u resume");
    let effects = point(&mut desk, Click::Pressed, resume, 0);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Call { .. })), "{effects:?}");
    let keys = place(&desk, "? keys");
    point(&mut desk, Click::Pressed, keys, 0);
    assert!(matches!(desk.model.mode, Mode::Help { .. }));
    point(&mut desk, Click::WheelDown, (1, 1), 65);
    assert!(matches!(desk.model.mode, Mode::Help { scroll: 1, .. }));
}

fn rows(count: usize) -> Vec<Vec<(String, Look)>> {
    (0..count).map(|n| vec![(format!("old row {n}"), Look::default())]).collect()
}

#[test]
fn one_looks_back_searches_copies_and_is_live_again() {
    let mut desk = at_terminal("live now");
    assert_eq!(desk.press("pgup"), "past id-fix-login 9");
    let session = "id-fix-login".to_owned();
    desk.tell(Msg::Past { session, result: Ok(rows(200)) });
    let frame = desk.frame();
    assert!(frame.contains("old row 189") && !frame.contains("old row 190"), "{frame}");
    assert!(frame.contains("↓ 10 below · 200 rows · esc back to live"), "{frame}");
    desk.press("/ row space 42 enter");
    assert!(desk.frame().contains("old row 42"), "{}", desk.frame());
    desk.press("n N");
    assert!(desk.frame().contains("old row 42"), "round to it: {}", desk.frame());
    desk.press("/ xyzzy enter");
    assert!(desk.frame().contains("no match for `xyzzy`"), "{}", desk.frame());
    assert!(desk.press("y").starts_with("copy \"old row "));
    assert_eq!(desk.press("p D u"), "", "keys of the list mean nothing here");
    desk.press("esc");
    assert!(desk.frame().contains("live now"), "{}", desk.frame());
    // The wheel does the same, and comes back by itself.
    let there = place(&desk, "live now");
    point(&mut desk, Click::WheelUp, there, 64);
    let session = "id-fix-login".to_owned();
    desk.tell(Msg::Past { session, result: Ok(rows(200)) });
    assert!(desk.frame().contains("↓ 3 below"), "{}", desk.frame());
    point(&mut desk, Click::WheelDown, there, 65);
    assert_eq!((&desk.model.mode, desk.model.pane.past.is_none()), (&Mode::List, true));
}

#[test]
fn a_key_that_looks_back_before_the_screen_is_there_is_not_lost() {
    let session = "id-fix-login".to_owned();
    let painted = || {
        let (size, bytes) = (Size { rows: 24, columns: 80 }, b"live now".to_vec());
        let news = PreviewNews::Painted { bytes, from: 9, size };
        Msg::Preview { session: "id-fix-login".to_owned(), news }
    };
    let fetches = |effects: &[Effect]| {
        effects.iter().filter(|effect| matches!(effect, Effect::FetchPast { .. })).count()
    };
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("pgup pgup"), "", "there is nothing to look back from yet");
    assert_eq!(fetches(&desk.tell(painted())), 1);
    desk.tell(Msg::Past { session: session.clone(), result: Ok(rows(200)) });
    assert!(desk.frame().contains("esc back to live"), "{}", desk.frame());
    // Behind a suspension the screen is painted anew; what is looked at stays as it is.
    desk.tell(Msg::Returned(Ok(())));
    assert!(desk.frame().contains("old row 1"), "{}", desk.frame());
    assert_eq!(fetches(&desk.tell(painted())), 0);
    // A screen that cannot be shown has no past either.
    desk.press("esc");
    desk.tell(Msg::Returned(Ok(())));
    desk.press("pgup");
    let told = Told { message: "it has no terminal".to_owned(), hint: None };
    desk.tell(Msg::Preview { session, news: PreviewNews::Refused(told) });
    assert_eq!(desk.model.mode, Mode::List);
    assert!(desk.frame().contains("it has no terminal"), "{}", desk.frame());
}

#[test]
fn a_past_that_cannot_be_had_or_is_empty_is_said() {
    let mut desk = at_terminal("live now");
    desk.press("pgup");
    let session = "id-fix-login".to_owned();
    desk.tell(Msg::Past { session: session.clone(), result: Ok(rows(2)) });
    assert!(desk.frame().contains("nothing has scrolled out of sight"), "{}", desk.frame());
    desk.press("pgup");
    let told = Told { message: "its output is gone".to_owned(), hint: None };
    desk.tell(Msg::Past { session, result: Err(told) });
    assert!(desk.frame().contains("its output is gone"), "{}", desk.frame());
    assert_eq!(desk.model.mode, Mode::List);
    // Another session in hand ends it.
    desk.press("pgup");
    desk.model.hand.selected = Some("id-docs".to_owned());
    desk.pass(1);
    assert_eq!(desk.model.mode, Mode::List);
}

#[test]
fn what_is_shown_is_copied() {
    let mut desk = at_terminal("one\r\ntwo 日本\r\n");
    assert_eq!(desk.press("c"), "copy \"one\\ntwo 日本\"");
    assert!(desk.frame().contains("✓ copied 2 lines"), "{}", desk.frame());
}

#[test]
fn who_looks_is_not_notified() {
    let mut desk = Desk::new(few());
    let notified =
        |effects: Vec<Effect>| effects.iter().any(|effect| matches!(effect, Effect::Notify { .. }));
    assert!(!notified(desk.event("docs", Status::Waiting)), "it was begun by somebody just now");
    desk.pass(20_000);
    assert!(notified(desk.event("docs", Status::Failed)), "it is not known who looks");
    desk.press("j");
    assert!(!notified(desk.event("docs", Status::Waiting)), "a key was pressed by somebody");
    desk.tell(Msg::Input(Input::Focus(Focus::Here)));
    assert!(!notified(desk.event("docs", Status::Failed)));
    desk.tell(Msg::Input(Input::Focus(Focus::Elsewhere)));
    assert!(notified(desk.event("docs", Status::Waiting)));
}
