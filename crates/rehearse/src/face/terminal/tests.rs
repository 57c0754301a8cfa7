//! Tests of the terminal face: keys in, bytes out, no terminal needed.

use std::time::Instant;

use super::Terminal;
use crate::face::{Face as _, Goodbye, Input, Message, Mode};
use crate::record::{Body, Manner, Record};

fn press(face: &mut Terminal, bytes: &str) -> (Vec<Input>, String) {
    let mut out = Vec::new();
    let inputs = face.take(bytes.as_bytes(), Instant::now(), &mut out);
    (inputs, String::from_utf8_lossy(&out).into_owned())
}

fn turn(face: &mut Terminal, mode: Mode) -> String {
    let mut out = Vec::new();
    face.mode(mode, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn message(text: &str) -> Input {
    Input::Message(Message { text: text.to_owned(), id: None })
}

#[test]
fn a_line_is_edited_and_sent_by_enter() {
    let mut face = Terminal::new(80);
    let (inputs, shown) = press(&mut face, "hé\u{7f}ello\r");
    assert_eq!(inputs, [message("hello")]);
    assert!(shown.ends_with("\r\x1b[K> hello"), "{shown:?}");
}

#[test]
fn the_idle_footer_is_the_bare_prompt() {
    let mut face = Terminal::new(80);
    turn(&mut face, Mode::Working);
    assert!(turn(&mut face, Mode::Idle).ends_with("\r\x1b[K> "));
}

#[test]
fn a_paste_keeps_its_newlines_in_the_message() {
    let mut face = Terminal::new(80);
    let (inputs, shown) = press(&mut face, "\x1b[200~a\nb\x1b[201~\r");
    assert_eq!(inputs, [message("a\nb")]);
    assert!(shown.ends_with("> a↵b"), "{shown:?}");
}

#[test]
fn an_empty_line_says_nothing() {
    assert_eq!(press(&mut Terminal::new(80), " \r").0, []);
}

#[test]
fn typing_ahead_waits_for_the_prompt() {
    let mut face = Terminal::new(80);
    turn(&mut face, Mode::Working);
    assert_eq!(press(&mut face, "one\rtw"), (vec![message("one")], String::new()));
    assert!(turn(&mut face, Mode::Idle).ends_with("> tw"));
}

#[test]
fn escape_interrupts_work_only() {
    let mut face = Terminal::new(80);
    assert_eq!(press(&mut face, "\x1b").0, []);
    assert_eq!(face.tick(&mut Vec::new()), []);
    turn(&mut face, Mode::Working);
    assert_eq!(press(&mut face, "\x1b").0, []);
    assert_eq!(face.tick(&mut Vec::new()), [Input::Interrupt]);
    assert_eq!(press(&mut face, "\x03").0, [Input::Interrupt]);
}

#[test]
fn an_interrupt_right_behind_a_message_is_for_its_turn() {
    let mut face = Terminal::new(80);
    assert_eq!(press(&mut face, "work 9\r\x03").0, [message("work 9"), Input::Interrupt]);
}

#[test]
fn an_idle_agent_leaves_at_the_second_interrupt_in_a_row() {
    let leave = Input::Leave(Goodbye::ByInterrupt);
    let mut face = Terminal::new(80);
    assert_eq!(press(&mut face, "\x03a\x03").0, []);
    assert_eq!(press(&mut face, "\x03").0, [leave]);
    assert_eq!(press(&mut face, "\x04").0, [Input::Leave(Goodbye::Politely)]);
}

#[test]
fn an_approval_takes_y_or_n_and_nothing_else() {
    let answer = |word: &str| Input::Answer { id: None, answer: word.to_owned() };
    let mut face = Terminal::new(80);
    assert!(turn(&mut face, Mode::Approval("rm x".to_owned())).ends_with("Allow: rm x [y/n] "));
    assert_eq!(press(&mut face, "q\r").0, []);
    let (inputs, shown) = press(&mut face, "yn");
    assert_eq!((inputs, shown.as_str()), (vec![answer("allow")], "y\r\n"));
    turn(&mut face, Mode::Approval("rm y".to_owned()));
    assert_eq!(press(&mut face, "n").0, [answer("deny")]);
}

#[test]
fn a_question_takes_a_line_and_leaves_the_draft_alone() {
    let mut face = Terminal::new(80);
    press(&mut face, "draft");
    turn(&mut face, Mode::Question);
    let (inputs, shown) = press(&mut face, "blue\r");
    assert_eq!(inputs, [Input::Answer { id: None, answer: "blue".to_owned() }]);
    assert!(shown.ends_with("answer> blue\r\n"), "{shown:?}");
    assert!(turn(&mut face, Mode::Idle).ends_with("> draft"));
}

#[test]
fn a_long_line_shows_its_end_in_one_row() {
    let mut face = Terminal::new(20);
    let (_, shown) = press(&mut face, "abcdefghijklmnopqrstuvwxyz");
    assert!(shown.ends_with("\r\x1b[K> pqrstuvwxyz"), "{shown:?}");
}

#[test]
fn pieces_grow_one_line_and_wrap_by_hand() {
    let mut face = Terminal::new(12);
    turn(&mut face, Mode::Working);
    let mut out = Vec::new();
    for text in ["word1", "word2", "word3"] {
        let body = Body::Text { text: text.to_owned(), manner: Manner::Piece };
        face.record(&Record { body, n: 1, at: String::new() }, &mut out);
    }
    let shown = String::from_utf8_lossy(&out).replace("* Working… ", "F");
    let shown = shown.replace("\r\x1b[K", "|");
    assert_eq!(shown, "|word1\r\nF|\x1b[A|word1 word2\r\nF|word3\r\nF");
}

#[test]
fn what_others_wrote_cannot_steer_the_terminal() {
    let mut face = Terminal::new(80);
    let mut out = Vec::new();
    let body = Body::Text { text: "a\x1b[2Jb".to_owned(), manner: Manner::Whole };
    face.record(&Record { body, n: 1, at: String::new() }, &mut out);
    assert_eq!(String::from_utf8_lossy(&out), "\r\x1b[Ka·[2Jb\r\n> ");
}
