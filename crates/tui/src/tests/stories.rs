//! What keys and news lead to, told as stories.

use super::desk::{Desk, few};
use super::{session, whole};
use crate::input::Input;
use crate::message::{Effect, Msg, Seen};
use crate::model::{Access, Kind, Mode};
use glis_core::Status;
use glis_wire::client::Response;
use glis_wire::view::SessionRow;

fn names(desk: &Desk) -> Vec<&str> {
    desk.model.list.ids().map(|id| id.trim_start_matches("id-")).collect()
}

#[test]
fn who_needs_a_person_stands_first_and_is_in_hand() {
    let desk = Desk::new(few());
    assert_eq!(names(&desk), ["fix-login", "日本語", "docs", "api"]);
    assert_eq!(desk.selected(), "fix-login");
}

#[test]
fn of_many_that_rest_only_a_line_is_shown_until_it_is_unfolded() {
    let mut sessions: Vec<_> =
        (0..6).map(|n| session(&format!("old-{n}"), Status::Suspended)).collect();
    sessions[5].status = Status::Paused;
    let only = Desk::new(sessions.clone());
    assert_eq!(names(&only).len(), 6, "where nothing else is, nothing is folded");
    sessions.push(session("docs", Status::Busy));
    let mut desk = Desk::new(sessions);
    assert_eq!((names(&desk).len(), desk.selected()), (1, "docs"));
    let frame = desk.frame();
    assert!(frame.contains("▸ 5 asleep, 1 paused  . shows them"), "{frame}");
    desk.press(".");
    assert_eq!(names(&desk).len(), 7);
    // What is in hand or marked stays in sight.
    desk.press("j space .");
    assert_eq!((names(&desk).len(), desk.selected()), (3, "old-1"));
    assert!(desk.frame().contains("▸ 3 asleep, 1 paused"), "{}", desk.frame());
    desk.press("/ old-4 enter");
    assert!(names(&desk).contains(&"old-4"), "a filter looks at all");
    desk.press("esc esc : old-3 enter");
    assert_eq!(desk.selected(), "old-3", "{}", desk.frame());
    assert!(
        names(&desk).contains(&"old-3"),
        "what is chosen elsewhere is in sight: {}",
        desk.frame()
    );
}

#[test]
fn the_list_is_sorted_by_repository_for_those_who_want_that() {
    let mut desk = Desk::new(few());
    desk.press("O");
    assert_eq!(names(&desk), ["fix-login", "docs", "日本語", "api"]);
    let frame = desk.frame();
    assert!(frame.contains(" app 2  ~/src") && frame.contains("● docs       busy"), "{frame}");
    desk.press("O");
    assert_eq!(names(&desk), ["fix-login", "日本語", "docs", "api"]);
}

#[test]
fn who_has_waited_longest_is_first() {
    let mut waits: Vec<_> =
        ["one", "two"].iter().map(|name| session(name, Status::Waiting)).collect();
    waits[1].last_active_at = "2025-12-31T23:00:00Z".to_owned();
    assert_eq!(names(&Desk::new(waits)), ["two", "one"]);
}

#[test]
fn the_hand_moves_and_stays_within_the_list() {
    let mut desk = Desk::new(few());
    desk.press("j j j j j");
    assert_eq!(desk.selected(), "api");
    desk.press("g k");
    assert_eq!(desk.selected(), "fix-login");
    desk.press("G w");
    assert_eq!(desk.selected(), "fix-login", "w goes round to who waits");
}

#[test]
fn what_came_to_an_end_before_somebodys_eyes_is_noted_as_seen_once() {
    let mut desk = Desk::new(few());
    let looks = |effects: Vec<Effect>| {
        effects.into_iter().filter(|effect| matches!(effect, Effect::LookAt(_))).count()
    };
    desk.press("G");
    let id = desk.selected().to_owned();
    desk.pass(1000);
    let ends = |desk: &mut Desk, at: &str| {
        let mut row = desk.model.rows.all[&format!("id-{id}")].clone();
        (row.seen, row.last_active_at) = (false, at.to_owned());
        let there = Msg::Seen(vec![Seen::There(Box::new(row.clone()))]);
        (looks(desk.tell(there)), row)
    };
    let (asked, row) = ends(&mut desk, "2026-01-01T00:00:01Z");
    assert_eq!((asked, looks(desk.pass(100))), (1, 0));
    desk.tell(Msg::LookedAt(Box::new(SessionRow { seen: true, ..row })));
    assert_eq!(ends(&mut desk, "2026-01-01T00:00:02Z").0, 1, "another end");
    // Who has gone for a coffee has not seen it.
    desk.pass(60 * 60 * 1000);
    assert_eq!(ends(&mut desk, "2026-01-01T01:00:00Z").0, 0);
    assert_eq!(looks(desk.tell(Msg::Time)), 0);
}

#[test]
fn an_event_counts_at_once_and_the_rest_is_looked_at_once() {
    let mut desk = Desk::new(few());
    desk.pass(20_000);
    desk.seen(few().remove(0));
    desk.pass(100);
    let effects = desk.event("docs", Status::Waiting);
    assert!(effects.contains(&Effect::Look(vec!["id-docs".to_owned()])), "{effects:?}");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Notify { ring: true, .. })));
    assert_eq!(desk.model.rows.all["id-docs"].status, Status::Waiting);
    // While that look is under way, further events only note what is stale.
    let effects = [desk.event("docs", Status::Busy), desk.event("api", Status::Idle)].concat();
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Look(_))), "{effects:?}");
    desk.seen(session("docs", Status::Busy));
    let looks = desk.pass(200);
    let both = vec!["id-api".to_owned(), "id-docs".to_owned()];
    assert!(looks.contains(&Effect::Look(both)), "{looks:?}");
    desk.seen(session("docs", Status::Idle));
    assert_eq!(desk.pass(5000), [], "without events nothing is asked");
}

#[test]
fn the_list_settles_after_a_moment_and_the_hand_stays_on_its_session() {
    let mut desk = Desk::new(few());
    desk.press("j j");
    assert_eq!(desk.selected(), "docs");
    let mut now = session("docs", Status::Failed);
    now.created_at = "2025-01-01T00:00:00Z".to_owned();
    desk.event("fix-login", Status::Busy);
    desk.seen(now);
    assert_eq!(names(&desk)[0], "fix-login", "nothing moves at once");
    desk.pass(3000);
    assert_eq!((names(&desk)[0], desk.selected()), ("docs", "docs"));
}

#[test]
fn one_chord_pauses_cancels_and_resumes() {
    let mut desk = Desk::new(few());
    desk.press("j j");
    assert_eq!(desk.press("ctrl+x p"), "pause id-docs");
    desk.event("docs", Status::Pausing);
    assert_eq!(desk.press("ctrl+x p"), "cancel_pause id-docs");
    desk.event("docs", Status::Paused);
    assert_eq!(desk.press("ctrl+x p"), "resume id-docs");
}

#[test]
fn an_unknown_second_key_does_nothing_and_says_so() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("ctrl+x q"), "", "it does not quit either");
    assert!(desk.frame().contains("`ctrl+x q` means nothing"), "{}", desk.frame());
    // A prefix that was left alone is forgotten.
    desk.press("ctrl+x");
    desk.pass(1100);
    assert_eq!(desk.press("p"), "pause id-fix-login");
    assert!(desk.model.keyboard.prefix.is_none());
}

#[test]
fn the_oldest_question_is_two_keys_away() {
    let mut desk = Desk::new(few());
    desk.press("G");
    for (key, answer) in [("y", "allow"), ("Y", "allow_for_session"), ("n", "deny")] {
        let mut desk = Desk::new(few());
        desk.press("G a");
        assert_eq!(desk.press(key), format!("answer id-fix-login r1 {answer}"));
    }
    desk.press("a");
    desk.event("fix-login", Status::Busy);
    desk.press("a a");
    assert_eq!(desk.model.mode, Mode::List, "there is nothing to answer");
}

/// An event tells that it waits; what it asks is known a moment later.
#[test]
fn a_question_that_is_not_known_yet_is_waited_for() {
    let mut desk = Desk::new(vec![session("docs", Status::Busy)]);
    desk.event("docs", Status::Waiting);
    assert_eq!(desk.press("a y"), "", "there is nothing to say yes to");
    assert_eq!(desk.model.mode, Mode::Asks { at: None });
    let mut asks = few().remove(1);
    (asks.id, asks.name) = ("id-docs".to_owned(), "docs".to_owned());
    desk.seen(asks);
    desk.pass(700);
    assert_eq!(desk.press("y"), "answer id-docs r1 allow");
}

/// What was looked at before the question came does not take it away again.
#[test]
fn a_look_that_is_older_than_an_event_takes_no_question_away() {
    let mut desk = Desk::new(vec![session("docs", Status::Idle)]);
    desk.event("docs", Status::Busy);
    desk.event("docs", Status::Waiting);
    desk.press("a");
    desk.seen(session("docs", Status::Busy));
    assert_eq!(desk.model.mode, Mode::Asks { at: None });
    desk.pass(100);
    desk.seen(session("docs", Status::Idle));
    assert_eq!(desk.model.mode, Mode::List, "the look that was due counts");
}

#[test]
fn a_resume_of_what_waits_goes_to_its_question() {
    let mut desk = Desk::new(few());
    desk.press("u");
    let at = Some(("id-fix-login".to_owned(), "r1".to_owned()));
    assert_eq!(desk.model.mode, Mode::Asks { at });
    assert_eq!(desk.press("n"), "answer id-fix-login r1 deny");
}

#[test]
fn what_is_still_under_way_is_not_passed_over_by_an_undo() {
    let mut desk = Desk::new(few());
    desk.press("j j Y y");
    let ended = |desk: &mut Desk, ticket| {
        let response =
            Response::Done { session: whole(session("docs", Status::Busy)), already: false };
        desk.tell(Msg::Ended { ticket, result: Ok(Box::new(response)) });
    };
    ended(&mut desk, 1);
    // It is known to be on before the next look tells so.
    desk.press("Y");
    assert_eq!(desk.model.work.history[1].line, "glis auto-yes docs off");
    desk.press("Y y");
    assert_eq!(desk.model.work.history[2].line, "glis auto-yes docs on");
    ended(&mut desk, 2);
    ended(&mut desk, 3);
    desk.press("p");
    assert_eq!(desk.press("z"), "", "auto-yes is not what is meant");
    assert!(desk.frame().contains("`glis pause docs` is still under way"), "{}", desk.frame());
    ended(&mut desk, 4);
    assert_eq!(desk.press("z"), "resume id-docs");
}

#[test]
fn help_tells_the_keys_of_its_place_first_and_goes_back_there() {
    let mut desk = Desk::new(few());
    desk.press("a");
    let before = desk.model.mode.clone();
    desk.press("?");
    assert!(desk.frame().contains("allow once"), "{}", desk.frame());
    desk.press("esc");
    assert_eq!(desk.model.mode, before);
}

#[test]
fn what_ends_or_removes_is_asked_first() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("D"), "");
    assert_eq!(desk.press("n"), "", "no is no");
    assert_eq!(desk.press("D y"), "remove id-fix-login");
    assert_eq!(desk.press("R esc R x y"), "restart id-fix-login");
    assert_eq!(desk.press("S y"), "stop id-fix-login", "its turn would be cut off");
    assert_eq!(desk.press("G S"), "stop id-api", "nothing runs, nothing is asked");
}

#[test]
fn several_are_done_at_once() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("space space p"), "pause id-fix-login, pause id-日本語");
    assert!(desk.model.list.marked.is_empty());
    desk.press("g v j j");
    assert_eq!(desk.model.list.marked.len(), 3);
    desk.press("esc");
    assert!(desk.model.list.marked.is_empty());
}

#[test]
fn an_action_is_a_wheel_on_its_row_until_it_ends() {
    let mut desk = Desk::new(few());
    desk.press("j j p");
    assert!(desk.frame().contains("PAUSING..."), "{}", desk.frame());
    assert!(desk.model.next_change().is_some_and(|at| at <= desk.model.now.ms + 120));
    let session = whole(session("docs", Status::Paused));
    let response = Response::Done { session, already: false };
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(response)) });
    assert!(desk.frame().contains("✓ `docs` is paused"), "{}", desk.frame());
    desk.event("docs", Status::Paused);
    desk.seen(super::session("docs", Status::Paused));
    desk.pass(5000);
    let next = desk.model.next_change().map(|at| at - desk.model.now.ms);
    assert!(next.is_some_and(|ms| ms > 10_000), "only an age is waited for: {next:?}");
}

#[test]
fn what_was_done_is_kept_as_lines_and_undone() {
    let mut desk = Desk::new(few());
    desk.press("j j p");
    let done = Response::Done { session: whole(session("docs", Status::Paused)), already: false };
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(done)) });
    assert_eq!(desk.press("z"), "resume id-docs");
    assert_eq!(desk.press("z"), "", "what undid is not undone");
    let lines: Vec<_> = desk.model.work.history.iter().map(|done| done.line.as_str()).collect();
    assert_eq!(lines, ["glis pause docs", "glis resume docs"]);
    desk.press("@");
    assert!(desk.frame().contains("glis pause docs"), "{}", desk.frame());
}

#[test]
fn where_only_looking_is_allowed_nothing_is_asked_for() {
    let mut desk = Desk::new(few());
    desk.model.house.access = Access::ReadOnly;
    for keys in ["p", "u esc", "s", "n", "D", "R", "P", "enter", "a y esc", "Y", "b", "ctrl+x p"] {
        assert_eq!(desk.press(keys), "", "{keys}");
        desk.pass(700);
    }
    let kind = desk.model.notice.as_ref().map(|notice| notice.kind);
    assert_eq!(kind, Some(Kind::Wrong));
}

#[test]
fn a_new_session_is_described_in_a_box() {
    let mut desk = Desk::new(Vec::new());
    let told = desk.press("n add space tests tab api tab right right enter");
    assert_eq!(told, "new Some(\"api\") Some(\"codex\") Some(\"add tests\"), keep 1 drafts");
    assert!(
        desk.model.work.history[0]
            .line
            .starts_with("glis new api --agent codex --prompt 'add tests'")
    );
    desk.model.folders.here = None;
    desk.press("n");
    assert!(desk.frame().contains("in no git repository"), "{}", desk.frame());
}

#[test]
fn a_filter_narrows_the_list_and_finds_letters_in_their_order() {
    let mut desk = Desk::new(few());
    desk.press("/ fxl");
    assert_eq!(names(&desk), ["fix-login"]);
    desk.press("enter");
    assert!(desk.frame().contains("1 of 4"), "{}", desk.frame());
    desk.press("esc");
    assert_eq!(names(&desk).len(), 4);
}

#[test]
fn the_palette_does_what_its_words_say() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press(": save enter"), "snapshot id-fix-login");
    desk.press(": keys enter");
    assert!(
        matches!(desk.model.mode, Mode::Help { scroll: 0, .. }),
        "a command may open a box of its own"
    );
}

#[test]
fn pasted_text_never_acts() {
    let mut desk = Desk::new(few());
    let effects = desk.tell(Msg::Input(Input::Pasted("DyqqpR".to_owned())));
    assert_eq!(effects, []);
    desk.press("s");
    desk.tell(Msg::Input(Input::Pasted("two\nlines".to_owned())));
    assert_eq!(desk.press("enter"), "send id-fix-login \"two\\nlines\", keep 1 drafts");
}

#[test]
fn the_terminal_is_followed_once_the_hand_rests() {
    let mut desk = Desk::new(few());
    let moves: Vec<_> = (0..3)
        .flat_map(|_| desk.tell(Msg::Input(Input::Key(crate::chord::Chord::parse("j").unwrap()))))
        .collect();
    assert!(!moves.iter().any(|effect| matches!(effect, Effect::Follow(_))), "{moves:?}");
    assert_eq!(desk.pass(50), [Effect::Follow(Some("id-api".to_owned()))]);
    // Another process of it is followed anew.
    let mut again = session("api", Status::Busy);
    again.generation = 2;
    desk.seen(again);
    assert_eq!(desk.pass(50), [Effect::Follow(Some("id-api".to_owned()))]);
}

#[test]
fn quitting_asks_for_nothing_else() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("q"), "quit");
    assert_eq!(desk.press("ctrl+c"), "quit");
    assert_eq!(desk.press("ctrl+z"), "suspend");
}

#[test]
fn a_key_that_does_nothing_says_why_and_claims_nothing() {
    let mut desk = Desk::new(few());
    for (keys, said) in [("z", "· nothing to undo"), (">", "· `fix-login` is no loop")] {
        desk.press(keys);
        assert!(desk.frame().contains(said), "{keys}\n{}", desk.frame());
    }
}
