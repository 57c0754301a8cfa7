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

#[test]
fn a_question_is_answered_once_and_gone_on_every_device() -> Outcome {
    play("questions")
}

#[test]
fn a_broken_connection_loses_nothing_and_repeats_nothing() -> Outcome {
    play("reconnect")
}

#[test]
fn markup_in_names_paths_lines_and_titles_is_text() -> Outcome {
    play("hostile")
}

#[test]
fn the_keyboard_alone_is_enough() -> Outcome {
    play("keyboard")
}

#[test]
fn no_view_keeps_anybody_out() -> Outcome {
    play("access")
}

#[test]
fn another_page_in_the_same_browser_reads_and_changes_nothing() -> Outcome {
    play("attacks")
}

#[test]
fn what_a_program_asks_its_terminal_is_not_answered_by_the_page() -> Outcome {
    play("queries")
}

#[test]
fn the_page_is_there_at_once_and_still_while_nothing_happens() -> Outcome {
    play("speed")
}

#[test]
fn comments_on_changes_are_kept_and_sent_as_one_message() -> Outcome {
    play("comments")
}

#[test]
fn what_is_typed_into_a_terminal_arrives_at_once_and_from_who_may() -> Outcome {
    play("typing")
}

#[test]
fn a_slider_goes_through_the_whole_past_of_a_terminal() -> Outcome {
    play("past")
}

#[test]
fn a_plan_is_written_changed_executed_and_drafted_on_the_page() -> Outcome {
    play("plans")
}

#[test]
fn a_snapshot_goes_into_a_folder_and_the_work_into_a_branch_that_is_named() -> Outcome {
    play("keeping")
}

#[test]
fn three_browsers_among_two_hundred_clients_show_what_happens() -> Outcome {
    play("crowd")
}

#[test]
fn a_page_that_is_not_looked_at_tells_what_is_waited_for() -> Outcome {
    play("notices")
}

#[test]
fn ten_tabs_of_one_browser_are_live_and_act() -> Outcome {
    play("tabs")
}

#[test]
fn connections_that_die_without_a_word_are_noticed_and_made_again() -> Outcome {
    play("silence")
}

#[test]
fn a_session_that_could_not_be_read_is_read_again() -> Outcome {
    play("stale")
}

#[test]
fn wide_letters_and_a_phones_keyboard_are_where_they_belong() -> Outcome {
    play("wide")
}

#[test]
fn who_takes_the_port_of_a_server_that_has_ended_is_sent_nothing_that_counts() -> Outcome {
    play("stranger")
}

#[test]
fn keys_that_are_held_along_with_others_arrive() -> Outcome {
    play("presses")
}

#[test]
fn only_what_was_on_the_screen_can_be_allowed() -> Outcome {
    play("approvals")
}

#[test]
fn an_answer_is_of_who_has_read_the_question_and_is_told_as_it_is() -> Outcome {
    play("answers")
}

#[test]
fn a_message_that_may_not_have_arrived_is_asked_about_as_that() -> Outcome {
    play("doubt")
}

#[test]
fn what_is_shown_follows_what_happens() -> Outcome {
    play("follows")
}

#[test]
fn a_session_says_why_it_rests_and_a_pause_is_what_was_asked_for() -> Outcome {
    play("states")
}

#[test]
fn what_is_snoozed_asks_for_nobody_and_what_is_pinned_stands_first() -> Outcome {
    play("triage")
}

#[test]
fn a_conversation_is_read_as_it_was_meant_and_at_once() -> Outcome {
    play("reading")
}

#[test]
fn changes_are_walked_through_and_sent_back_or_merged() -> Outcome {
    play("walking")
}

#[test]
fn questions_are_answered_and_places_reached_by_keys() -> Outcome {
    play("keys")
}

#[test]
fn a_session_or_loop_is_begun_by_choices() -> Outcome {
    play("beginning")
}

#[test]
fn a_small_window_is_enough_and_the_page_can_be_installed() -> Outcome {
    play("small")
}

#[test]
fn the_home_is_the_inbox() -> Outcome {
    play("inbox")
}

#[test]
fn who_is_still_at_work_is_named_when_all_is_paused() -> Outcome {
    play("gate")
}
