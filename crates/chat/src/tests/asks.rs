//! Nobody answers what they have not seen, whoever dies when.

use super::stories::{calm, hear};
use super::{USERS, World};
use crate::bot::Late;

const ME: i64 = USERS[0];

/// The user is shown what s0 asks, by so many requests.
fn shown(world: &mut World, requests: u32) {
    world.news();
    world.send(requests);
}

/// Killed behind the file, the next process sends the card, and not the file again.
#[test]
fn a_card_follows_its_file_also_after_a_kill() {
    let mut world = calm();
    world.house.ask_with(0, &"x".repeat(5000));
    shown(&mut world, 1);
    assert_eq!((world.network.files(), world.network.button(ME, "Allow once")), (1, None));
    shown(&mut world, 100);
    assert_eq!(world.network.files(), 1);
    assert!(world.network.button(ME, "Allow once").is_some());
}

/// It asks in the moment in which a chat begins to hear of it.
#[test]
fn what_is_asked_while_somebody_switches_there_is_shown() {
    let mut world = calm();
    world.house.ask_unheard(1);
    hear(&mut world, "/switch s1");
    shown(&mut world, 100);
    assert!(world.network.button(ME, "Allow once").is_some());
}

/// A session that begins anew gives its questions the same names again.
#[test]
fn a_press_that_a_kill_cut_short_answers_no_later_question_of_the_same_name() {
    let mut world = calm();
    world.house.ask(0);
    shown(&mut world, 100);
    world.press_label(ME, "Allow once");
    world.alive(|world, bot| {
        let updates = world.network.pending(bot.offset().unwrap());
        for fresh in bot.take_in(&updates, Late::Never).unwrap() {
            // The process was killed when it was about to answer.
            world.house.restart(0);
            world.house.ask(0);
            bot.deal_with(&fresh).unwrap();
        }
    });
    assert_eq!(world.house.answered(), 0);
}

/// The end of a long question may be all that matters.
#[test]
fn a_question_whose_end_nobody_got_takes_no_reply() {
    let mut world = calm();
    world.network.refuse("asks.txt");
    world.house.wonder(0, &"x".repeat(5000));
    shown(&mut world, 100);
    let card = world.network.message(ME, "Not all of it is shown");
    world.reply((ME, ME), card, "yes");
    world.deliver();
    world.send(100);
    assert_eq!((world.house.answered(), world.house.sent().len()), (0, 0));
    let said = world.network.words_of(ME).join("\n");
    assert!(said.contains("This cannot be answered here"), "{said}");
    world.house.answer_elsewhere(0);
    shown(&mut world, 100);
    let settled = world.network.card_text(ME, card);
    assert!(settled.contains("Not all of it is shown"), "{settled}");
    assert!(settled.ends_with("No longer asked"), "{settled}");
}

/// A no needs no more than a part.
#[test]
fn an_approval_whose_end_nobody_got_is_denied_by_a_reply() {
    let mut world = calm();
    world.network.refuse("asks.txt");
    world.house.ask_with(0, &"x".repeat(5000));
    shown(&mut world, 100);
    let card = world.network.message(ME, "Not all of it is shown");
    world.reply((ME, ME), card, "rather not");
    world.deliver();
    assert_eq!((world.house.answered(), world.house.sent().len()), (1, 0));
}

/// A note in place of a card says who waits, and takes no answer: nobody has seen what is asked.
#[test]
fn a_note_of_a_question_names_who_waits_and_takes_no_answer() {
    let mut world = calm();
    world.network.refuse("secret words");
    world.house.wonder(0, " secret words");
    shown(&mut world, 100);
    let note = world.network.message(ME, "could not be shown here");
    let told = world.network.card_text(ME, note);
    assert!(told.starts_with("s0 asks\n") && told.contains("waits for an answer"), "{told}");
    world.reply((ME, ME), note, "yes");
    world.deliver();
    world.send(100);
    assert_eq!((world.house.answered(), world.house.sent().len()), (0, 0));
    let said = world.network.words_of(ME).join("\n");
    assert!(said.contains("This cannot be answered here"), "{said}");
    world.house.answer_elsewhere(0);
    shown(&mut world, 100);
    let settled = world.network.card_text(ME, note);
    assert!(settled.ends_with("No longer asked"), "{settled}");
}

/// A new process does not ask what the last one did.
#[test]
fn a_press_on_what_nobody_answered_is_not_told_that_somebody_did() {
    let mut world = calm();
    world.house.ask(0);
    shown(&mut world, 100);
    world.house.restart(0);
    shown(&mut world, 100);
    world.press_label(ME, "Allow once");
    world.deliver();
    world.send(100);
    assert_eq!(world.network.acks(), ["This is not asked any more."]);
}
