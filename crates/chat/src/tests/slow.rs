//! A network that takes its time with one chat.

use super::stories::asked_in_group;
use super::{GROUP, USERS, now, pass};
use crate::send::{Sender, Step};
use std::sync::Arc;

const ME: i64 = USERS[0];

#[test]
fn a_slow_request_holds_up_no_other_chat() {
    let mut world = asked_in_group();
    pass(10_000);
    world.house.say(0);
    world.news();
    let (bot, network) = (world.bot.take().unwrap(), Arc::clone(&world.network));
    let pace = Arc::default();
    let senders = [ME, GROUP].map(|chat| Sender::new((&bot, &*network), (chat, &pace)).unwrap());
    let [mut own, mut slow] = senders;
    let answer = network.stall(GROUP);
    let is_told = |chat| network.words_of(chat).iter().any(|words| words.contains("<final"));
    std::thread::scope(|scope| {
        let at = now();
        let stalled = scope.spawn(move || {
            // Each thread has its own clock.
            pass(at - now());
            slow.step()
        });
        while !is_told(ME) {
            own.step().unwrap();
            pass(1000);
        }
        assert!(!is_told(GROUP));
        answer.send(()).unwrap();
        assert_eq!(stalled.join().unwrap().unwrap(), Step::Again);
    });
    assert!(is_told(GROUP));
}
