//! Nobody answers what they have not seen, whoever dies when.

use super::stories::calm;
use super::{USERS, World};
use crate::bot::Late;
use crate::store::answered_by;

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

/// A session that begins anew gives its questions the same names again.
#[test]
fn a_press_that_a_kill_cut_short_answers_no_later_question_of_the_same_name() {
    let mut world = calm();
    world.house.ask(0);
    shown(&mut world, 100);
    world.press_label(ME, "Allow once");
    world.alive(|world, bot| {
        let updates = world.network.pending(bot.offset().unwrap());
        for id in bot.take_in(&updates, Late::Never).unwrap() {
            // The process was killed when it was about to answer.
            bot.change(|change| change.set_meta(&answered_by(id), "")).unwrap();
            world.house.restart(0);
            world.house.ask(0);
            bot.deal_with(id).unwrap();
        }
    });
    assert_eq!(world.house.answered(), 0);
}
