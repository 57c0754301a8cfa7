//! The page in a real browser: each test is a story of `tests/browser`.

use crate::support::browser::play;
use crate::support::house::Outcome;

#[test]
fn a_newcomer_finds_the_way_from_the_link_to_the_trash_and_back() -> Outcome {
    play("newcomer")
}

#[test]
fn a_link_that_was_used_shuts_nobody_out() -> Outcome {
    play("links")
}

#[test]
fn letters_arrive_in_order_once_and_from_whichever_tab_lives() -> Outcome {
    play("letters")
}

#[test]
fn what_is_asked_and_shown_hides_nothing() -> Outcome {
    play("sight")
}

#[test]
fn what_was_typed_is_kept_and_what_is_made_is_made_once() -> Outcome {
    play("typed")
}

#[test]
fn a_conversation_shows_what_is_said_while_it_is_said() -> Outcome {
    play("saying")
}

#[test]
fn menus_close_views_lead_back_and_what_is_greyed_out_says_why() -> Outcome {
    play("ways")
}
