//! Ten thousand faults: the bot itself, with its outbox, its policy and its file, between a network that bans,
//! loses and repeats and a house whose daemon dies. The bot is killed in the middle of anything.

mod asks;
mod house;
mod network;
mod presses;
mod random;
mod slow;
mod stories;

use crate::bot::{Bot, Late, Setup};
use crate::channel::{Channel, Me};
use crate::inbox::Inbox;
use crate::policy::Policy;
use crate::send::{Sender, Step};
use crate::store::Store;
use crate::voice::Voice;
use house::House;
use network::Network;
use random::Random;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(1_700_000_000_000) };
}

fn now() -> i64 {
    NOW.get()
}

fn ticks() -> u64 {
    now().unsigned_abs()
}

fn pass(ms: i64) {
    NOW.set(now() + ms);
}

struct Killed;

const USERS: [i64; 2] = [7, 8];
const STRANGER: i64 = 666;
const GROUP: i64 = -100;
const ALIEN_GROUP: i64 = -200;

fn is_allowed(user: i64, chat: i64) -> bool {
    USERS.contains(&user) && (chat == user || chat == GROUP)
}

fn kind_of(chat: i64) -> &'static str {
    if chat < 0 { "supergroup" } else { "private" }
}

struct World {
    random: Rc<Random>,
    house: Arc<House>,
    network: Arc<Network>,
    bot: Option<Bot>,
    folder: tempfile::TempDir,
    update: i64,
    kills: u32,
}

impl World {
    fn new(seed: u64) -> Self {
        let random = Rc::new(Random::new(seed));
        let (house, network) = (Arc::new(House::new(seed)), Arc::new(Network::new(seed)));
        // In memory where that can be had: that a file is durable is not what is played here.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut world = Self { random, house, network, bot: None, folder, update: 100, kills: 0 };
        world.bot = Some(world.begin(Store::in_memory().unwrap()));
        world
    }

    fn begin(&self, store: Store) -> Bot {
        let its = Setup {
            desk: Box::new(house::Line(Arc::clone(&self.house))),
            channel: Arc::clone(&self.network) as Arc<dyn Channel>,
            inbox: Inbox::new(self.folder.path()),
            voice: Voice::new(&["cat".to_owned()]),
            policy: Box::new(|| Arc::new(Policy::new(&USERS, &[GROUP]))),
            me: Me { number: 1, name: "glis_bot".to_owned() },
            topics: true,
            repo: Some("/repo".to_owned()),
            repos: BTreeMap::new(),
            clock: now,
            passed: ticks,
            rest: |time| pass(i64::try_from(time.as_millis()).unwrap()),
            wake: Box::new(|| {}),
        };
        Bot::new(store, its).unwrap()
    }

    /// Does something that may be killed; then everything but the file is made anew.
    fn alive(&mut self, act: impl FnOnce(&Self, &Bot)) {
        let bot = self.bot.take().unwrap();
        let killed = catch_unwind(AssertUnwindSafe(|| act(self, &bot))).err();
        match killed {
            None => self.bot = Some(bot),
            Some(why) => {
                assert!(why.downcast_ref::<Killed>().is_some(), "a fault of the bot itself");
                self.kills += 1;
                self.bot = Some(self.begin(bot.into_store()));
                self.alive(take_up);
            }
        }
    }

    /// Delivers updates as the network has them: those behind the offset, again and again.
    fn deliver(&mut self) {
        self.alive(|world, bot| {
            let updates = world.network.pending(bot.offset().unwrap());
            for fresh in bot.take_in(&updates, Late::Never).unwrap() {
                bot.deal_with(&fresh).unwrap();
            }
        });
    }

    /// Tells events that were not told yet.
    fn news(&mut self) {
        self.alive(|world, bot| {
            for _ in 0..50 {
                let Ok(position) = bot.position() else { return };
                let Some(news) = world.house.event(position.next) else { return };
                if bot.take_news("log", &news).is_err() {
                    return;
                }
                if bot.position().is_ok_and(|after| after.next <= position.next) {
                    // It concerned no chat, and was not noted.
                    bot.store()
                        .change(|change| {
                            let next = position.next + 1;
                            change.set_position(&crate::store::Position {
                                log_id: "log".to_owned(),
                                next,
                            })
                        })
                        .unwrap();
                }
            }
        });
    }

    /// Looks at agents at work.
    fn look_on(&mut self) {
        // A daemon that dies takes nothing with it: the next look sees the same.
        self.alive(|_, bot| drop(bot.look_on()));
    }

    fn send(&mut self, most: u32) {
        self.alive(|world, bot| {
            let pace = Arc::default();
            let mut senders = [USERS[0], USERS[1], GROUP].map(|chat| {
                bot.hear_from(chat);
                Sender::new((bot, &*world.network), (chat, &pace)).unwrap()
            });
            for _ in 0..most {
                let steps = senders.iter_mut().map(|sender| sender.step().unwrap());
                match steps.min_by_key(Step::ms).unwrap() {
                    Step::Again => pass(5),
                    Step::Wait(ms) => pass(i64::try_from(ms.clamp(1, 1500)).unwrap()),
                    Step::Idle => return,
                }
            }
        });
    }

    fn update(&mut self, body: serde_json::Value) {
        self.update += 1;
        let mut body = body;
        body["update_id"] = json!(self.update);
        self.network.add_update(self.update, body.clone());
        if self.random.one_in(10) {
            // The same again, as after a lost answer.
            self.network.add_update(self.update, body);
        }
    }

    /// A message of a user; `rest` is what it has beside that.
    fn says(&mut self, (user, chat): (i64, i64), rest: &serde_json::Value) {
        let mut message = json!({
            "message_id": 1, "date": now() / 1000,
            "from": {"id": user, "is_bot": false}, "chat": {"id": chat, "type": kind_of(chat)},
        });
        for (name, value) in rest.as_object().unwrap() {
            message[name] = value.clone();
        }
        self.update(json!({"message": message}));
    }

    fn message(&mut self, user: i64, chat: i64, text: &str) {
        let mut rest = json!({"text": text});
        let alien = self.random.one_in(8);
        if alien {
            let field = if self.random.one_in(2) { "forward_origin" } else { "via_bot" };
            rest[field] = json!({});
        }
        self.house.expect(self.update + 1, user, is_allowed(user, chat) && !alien, text);
        self.says((user, chat), &rest);
    }

    /// A message of an allowed user, as it is.
    fn exactly(&mut self, user: i64, chat: i64, text: &str) {
        self.house.expect(self.update + 1, user, true, text);
        self.says((user, chat), &json!({"text": text}));
    }

    /// A reply of an allowed user to a message.
    fn reply(&mut self, (user, chat): (i64, i64), message: i64, text: &str) {
        let id = self.update + 1;
        self.house.expect(id, user, true, text);
        self.house.pressed(id, self.network.card_text(chat, message));
        let to = json!({"message_id": message, "from": {"id": 1, "is_bot": true}});
        self.says((user, chat), &json!({"text": text, "reply_to_message": to}));
    }

    /// A file or a voice message of an allowed user.
    fn file(&mut self, user: i64, kind: &str) {
        let id = self.update + 1;
        let file = json!({"file_id": format!("file {id}"), "file_size": 10});
        let file = if kind == "photo" { json!([file]) } else { file };
        // What is spoken is heard by `cat`.
        let (caption, text) = match kind {
            "voice" => (String::new(), network::content(&format!("file {id}"))),
            _ => (format!("see {id}"), format!("see {id}")),
        };
        self.house.expect(id, user, true, &text);
        self.says((user, user), &json!({"caption": caption, kind: file}));
    }

    fn press_label(&mut self, chat: i64, label: &str) {
        self.press_label_as(USERS[0], chat, label);
    }

    fn press_label_as(&mut self, user: i64, chat: i64, label: &str) {
        let (message, data) = self.network.button(chat, label).unwrap();
        self.press_as(user, chat, message, &data);
    }

    fn press_data(&mut self, chat: i64, message: i64, data: &str) {
        self.press_as(USERS[0], chat, message, data);
    }

    fn press_as(&mut self, user: i64, chat: i64, message: i64, data: &str) {
        let id = self.update + 1;
        self.house.expect(id, user, is_allowed(user, chat), "");
        self.house.pressed(id, self.network.card_text(chat, message));
        self.update(json!({"callback_query": {
            "id": format!("q{id}"), "data": data, "from": {"id": user, "is_bot": false},
            "message": {"message_id": message, "chat": {"id": chat, "type": kind_of(chat)}},
        }}));
    }

    fn press(&mut self) {
        let Some((chat, message, data)) = self.network.any_button() else { return };
        let by = [USERS[0], USERS[1], STRANGER][self.random.below(3)];
        self.press_as(by, chat, message, &data);
    }

    fn turn(&mut self) {
        pass(i64::try_from(self.random.below(4000)).unwrap());
        match self.random.below(22) {
            0 => {
                let user = USERS[self.random.below(2)];
                let chat = if self.random.one_in(3) { GROUP } else { user };
                let commands = ["/sessions", "/status", "/switch s0", "/switch s1", "/pause"];
                let command = commands[self.random.below(5)];
                self.message(user, chat, command);
            }
            1..=3 => {
                let user = USERS[self.random.below(2)];
                let chat = if self.random.one_in(4) { GROUP } else { user };
                let words = format!("words {}", self.update);
                self.message(user, chat, &words);
            }
            4 if self.random.one_in(2) => {
                let user = USERS[self.random.below(2)];
                // Voice has a story of its own: each would start a process.
                let kind = ["document", "photo"][self.random.below(2)];
                self.file(user, kind);
            }
            4 => {
                let chat = [STRANGER, GROUP, ALIEN_GROUP][self.random.below(3)];
                self.message(STRANGER, chat, "/pauseall");
            }
            5 => self.message(USERS[0], ALIEN_GROUP, "/pauseall"),
            6..=8 => self.press(),
            9..=11 => self.house.say(self.random.below(2)),
            12 | 13 => self.house.ask(self.random.below(2)),
            14 => self.house.answer_elsewhere(self.random.below(2)),
            15 => self.house.restart(self.random.below(2)),
            16 | 17 => self.deliver(),
            18 => self.news(),
            19 => self.house.speak(self.random.below(2)),
            20 => self.look_on(),
            _ => self.send(20),
        }
    }

    /// Everything is well again, and everything has time.
    fn settle(&mut self) {
        self.house.be_well();
        self.network.be_well();
        // Whoever still spoke comes to an end.
        for at in 0..2 {
            self.house.say(at);
        }
        pass(8_000_000);
        for _ in 0..20 {
            self.deliver();
            self.news();
            self.look_on();
            self.send(2000);
            if self.rests() {
                break;
            }
        }
    }

    /// Whether everything was read, dealt with, told and sent.
    fn rests(&self) -> bool {
        let bot = self.bot.as_ref().unwrap();
        let read = self.house.event(bot.position().unwrap().next).is_none();
        let store = bot.store();
        let look = store.look();
        read && self.network.is_heard()
            && look.undone().unwrap().is_empty()
            && look.waiting(0).unwrap().is_empty()
    }
}

/// What was not dealt with is dealt with now.
fn take_up(_: &World, bot: &Bot) {
    for fresh in bot.undone().unwrap() {
        bot.deal_with(&fresh).unwrap();
    }
}

#[test]
fn nothing_is_lost_nothing_done_twice_and_nothing_for_strangers() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<Killed>().is_none() {
            usual(info);
        }
    }));
    // Two at a time: each thread has its own clock, and its own half of the seeds.
    let played: Vec<Played> = std::thread::scope(|scope| {
        let halves = [1, 2].map(|first| scope.spawn(move || play(first)));
        halves.map(|half| half.join().unwrap()).into()
    });
    let sum = |what: fn(&Played) -> u64| played.iter().map(what).sum::<u64>();
    let (worlds, faults, kills) = (sum(|it| it.worlds), sum(|it| it.faults), sum(|it| it.kills));
    let (finals, answers) = (sum(|it| it.finals), sum(|it| it.answers));
    println!("{worlds} worlds, {faults} faults, {kills} kills, {finals} texts, {answers} answers");
    assert!(faults >= 10_000 && kills > 200 && finals > 500 && answers > 50);
}

/// What happened in some worlds.
#[derive(Default)]
struct Played {
    worlds: u64,
    faults: u64,
    kills: u64,
    finals: u64,
    answers: u64,
}

/// Plays every other seed, until five thousand faults have come to pass.
fn play(first: u64) -> Played {
    let mut played = Played::default();
    while played.faults < 5_000 {
        let seed = first + 2 * played.worlds;
        let mut world = World::new(seed);
        for user in USERS {
            world.message(user, user, "/switch s0");
        }
        for _ in 0..400 {
            world.turn();
        }
        world.settle();
        let kills = u64::from(world.kills);
        let bot = world.bot.as_ref().unwrap();
        let (finals, answers) = world.house.check(&world.network, bot, seed);
        played.worlds += 1;
        played.faults += world.network.faults() + world.house.faults() + kills;
        played.kills += kills;
        played.finals += u64::try_from(finals).unwrap();
        played.answers += u64::try_from(answers).unwrap();
    }
    played
}
