//! Words that a person has typed are never lost: not with a box, a session, a refusal, or the program.

use super::desk::{Desk, few};
use crate::message::{Effect, Listed, Msg, Told};
use crate::model::NEW_DRAFT;
use crate::update::unsent;
use glis_core::Status;
use glis_core::talk::AskKind;

/// A few sessions, the first of which asks something in words.
fn with_question() -> Desk {
    let mut sessions = few();
    sessions[1].asks[0].kind = AskKind::Question;
    Desk::new(sessions)
}

fn refused() -> Msg {
    let told = Told { message: "asks nothing right now".to_owned(), hint: None };
    Msg::Ended { ticket: 1, result: Err(told) }
}

fn kept(desk: &Desk, id: &str) -> Option<String> {
    unsent(&desk.model).remove(id)
}

#[test]
fn a_draft_outlives_its_box_and_comes_back_when_it_was_not_sent() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("s half esc"), "keep 1 drafts");
    // On its way it is kept as well: this may end before it has arrived.
    assert_eq!(desk.press("s done enter"), "send id-fix-login \"halfdone\", keep 1 drafts");
    // What is typed meanwhile stands behind it.
    desk.press("s more esc");
    assert_eq!(kept(&desk, "id-fix-login").as_deref(), Some("halfdone\nmore"));
    let told = Told { message: "the queue is full".to_owned(), hint: Some("wait".to_owned()) };
    desk.tell(Msg::Ended { ticket: 1, result: Err(told) });
    assert_eq!(desk.model.drafts.text("id-fix-login"), "halfdone\nmore");
    let frame = desk.frame();
    assert!(frame.contains("✗ the queue is full  wait"), "{frame}");
}

#[test]
fn what_is_typed_is_kept_while_it_is_typed() {
    let boxes = [
        ("s half", "id-fix-login"),
        ("n half", NEW_DRAFT),
        ("r half", "id-fix-login"),
        ("a s half", "id-fix-login"),
        ("a r half", "id-fix-login"),
    ];
    for (keys, id) in boxes {
        let mut desk = with_question();
        desk.press(keys);
        let effects = desk.pass(1000);
        let Some(Effect::KeepDrafts(drafts)) =
            effects.iter().find(|effect| matches!(effect, Effect::KeepDrafts(_)))
        else {
            panic!("{keys}: {effects:?}")
        };
        assert_eq!(drafts.get(id).map(String::as_str), Some("half"), "{keys}");
        assert_eq!(desk.model.next_change().filter(|at| *at <= 2100), None, "{keys}: only once");
    }
}

#[test]
fn a_session_that_goes_leaves_its_box_open_and_the_words_kept() {
    for keys in ["s half", "r half", "a s half", "a r half"] {
        let mut desk = with_question();
        desk.press(keys);
        let box_of = |desk: &Desk| std::mem::discriminant(&desk.model.mode);
        let open = box_of(&desk);
        desk.event("fix-login", Status::Archived);
        // Letters that are on their way must not be taken for commands.
        assert_eq!(box_of(&desk), open, "{keys}");
        let frame = desk.frame();
        assert!(frame.contains("✗ `fix-login` is gone  T shows the trash"), "{keys}\n{frame}");
        assert!(!frame.contains("id-fix-login"), "{keys}\n{frame}");
        desk.press("q");
        assert_eq!(kept(&desk, "id-fix-login").as_deref(), Some("halfq"), "{keys}");
        // What is sent now is refused.
        desk.press("enter");
        desk.tell(refused());
        assert_eq!(kept(&desk, "id-fix-login").as_deref(), Some("halfq"), "{keys}");
    }
    let mut desk = Desk::new(few());
    desk.press("t 5");
    desk.tell(Msg::Listed(Listed {
        sessions: Vec::new(),
        more: 0,
        last_seq: 9,
        gate: "running".to_owned(),
    }));
    assert!(desk.frame().contains("suspend fix-login after"), "{}", desk.frame());
    // Of one that no box is about nothing is said.
    let mut desk = Desk::new(few());
    desk.press("j s half");
    desk.event("fix-login", Status::Archived);
    assert!(!desk.frame().contains("is gone"), "{}", desk.frame());
}

#[test]
fn an_answer_that_came_too_late_is_a_draft() {
    let mut desk = with_question();
    assert_eq!(desk.press("a s because enter"), "answer id-fix-login r1 because");
    assert_eq!(kept(&desk, "id-fix-login").as_deref(), Some("because"));
    desk.tell(refused());
    assert_eq!(desk.model.drafts.text("id-fix-login"), "because");
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("a r because enter"), "answer id-fix-login r1 deny");
    desk.tell(refused());
    assert_eq!(desk.model.drafts.text("id-fix-login"), "because", "the reason of a no as well");
    // Answered elsewhere while it was typed.
    let mut desk = Desk::new(few());
    desk.press("a r because");
    desk.event("fix-login", Status::Busy);
    assert_eq!(desk.press("enter"), "keep 1 drafts");
    assert_eq!(desk.model.drafts.text("id-fix-login"), "because");
    assert!(desk.frame().contains("what you typed is kept for s"), "{}", desk.frame());
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("r because enter"), "resume id-fix-login");
    desk.tell(refused());
    assert_eq!(desk.model.drafts.text("id-fix-login"), "because");
}

/// It has the draft in memory, and another overview has sent it.
#[test]
fn a_draft_is_read_again_when_its_box_opens() {
    for (key, id) in [("s", "id-fix-login"), ("n", NEW_DRAFT)] {
        let mut desk = Desk::new(few());
        desk.press(&format!("{key} half esc"));
        let read = Effect::ReadDraft { id: id.to_owned() };
        assert!(desk.typed(key).contains(&read), "{key}");
        assert!(!desk.typed("a").contains(&read), "{key}: once");
        let (id, before) = (id.to_owned(), "half".to_owned());
        desk.tell(Msg::Draft { id: id.clone(), before, text: String::new() });
        assert_eq!(kept(&desk, &id).as_deref(), Some("a"), "{key}: what was typed meanwhile stays");
    }
    // What is on its way from here is no draft of another one.
    let mut desk = Desk::new(few());
    desk.press("s half enter");
    assert!(!desk.typed("s").iter().any(|effect| matches!(effect, Effect::ReadDraft { .. })));
}
