//! Forty faults in each story, over real HTTP and on a clock that is moved by hand: no final text is lost, no question
//! is answered twice or for another one.

use crate::support::bot::{BotHouse, ME};
use crate::support::bot_time::TimedBot;
use crate::support::house::Outcome;
use crate::support::seeds;
use glis_bot_api::{Fault, Message};
use serde_json::Value;
use std::time::Duration;

/// So many come to pass in each of the three stories; `GLIS_FAULTS` asks for more.
const FAULTS: usize = 40;

/// Numbers by chance that a seed repeats.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % most
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// What may go wrong with a request of this kind.
fn faults_of(method: &str) -> Vec<Fault> {
    let mut faults = vec![
        Fault::TooMany(0),
        Fault::TooMany(30),
        Fault::Status(401, "Unauthorized"),
        Fault::Status(500, "Internal Server Error"),
        Fault::Status(502, "Bad Gateway"),
        Fault::HalfBody,
        Fault::NoAnswer,
        Fault::Silence(Duration::from_secs(120)),
    ];
    match method {
        "getUpdates" => faults.push(Fault::Status(409, "Conflict: terminated by other getUpdates")),
        // One that was carried out and whose answer was lost is tried again, and is "not modified" then.
        "editMessageText" => faults.push(Fault::TooMany(6775)),
        _ => {
            faults.push(Fault::TooMany(6775));
            faults.push(Fault::Status(403, "Forbidden: bot was blocked by the user"));
        }
    }
    faults
}

/// Waits for something to be seen. A chat that is shut (403) opens when its user says something: which is done
/// ever more seldom, for each time asks for an answer that stands in line with what is waited for.
fn through<T>(bot: &BotHouse, look: impl Fn(&[Message]) -> Option<T>, what: &str) -> Outcome<T> {
    for seconds in [1, 1, 1, 2, 2, 4, 8, 16, 32, 64] {
        if let Some(found) = bot.api.until_for(Duration::from_secs(seconds), &look) {
            return Ok(found);
        }
        bot.say("/status");
    }
    bot.hear(what)?;
    Err(format!("{what} is not as it should be").into())
}

fn hear(bot: &BotHouse, words: &str) -> Outcome<Message> {
    let said = |all: &[Message]| {
        let found = all.iter().find(|message| message.chat == ME && message.text.contains(words));
        found.cloned()
    };
    through(bot, said, words)
}

/// Plays rounds until enough went wrong; returns how many rounds there were.
fn storm(methods: &[&str], round: impl Fn(&BotHouse, usize) -> Outcome) -> Outcome<usize> {
    let wish = std::env::var("GLIS_SEED").ok();
    let seed = seeds::fresh(wish.as_deref(), 1)?[0];
    let most = std::env::var("GLIS_FAULTS").map_or(Ok(FAULTS), |most| most.parse())?;
    eprintln!("GLIS_SEED={seed}");
    let mut dice = Dice(seed.max(1));
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    timed.while_time_flies(|| {
        hear_after(bot, "/new blue", "Session blue created.")?;
        let (mut planned, mut rounds, mut left) = (0, 0, 0);
        while planned - bot.api.faults_left() < most {
            // What has not come to pass stays for later. A round in which nothing did is followed by one with
            // something else: a picture is shown only where its agent takes long enough.
            while bot.api.faults_left() < 3 || bot.api.faults_left() == left {
                let method = dice.pick(methods);
                bot.api.fail(method, dice.pick(&faults_of(method)));
                planned += 1;
            }
            left = bot.api.faults_left();
            round(bot, rounds).map_err(|fault| format!("GLIS_SEED={seed}: {fault}"))?;
            rounds += 1;
        }
        Ok(rounds)
    })
}

fn hear_after(bot: &BotHouse, text: &str, words: &str) -> Outcome<Message> {
    bot.say(text);
    hear(bot, words)
}

/// Numbers that stand behind these words in what was said, in the order in which they first came.
fn numbers(bot: &BotHouse, words: &str) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for message in bot.api.messages() {
        for part in message.text.split(words).skip(1) {
            let number = part.split('.').next().and_then(|number| number.trim().parse().ok());
            found.extend(number.filter(|number| !found.contains(number)));
        }
    }
    found
}

#[test]
fn no_final_text_is_lost_in_forty_faults() -> Outcome {
    let methods = ["sendMessage", "sendMessage", "getUpdates", "*"];
    let rounds = storm(&methods, |bot, number| {
        hear_after(bot, &format!("say text {number}."), &format!("text {number}."))?;
        assert_eq!(numbers(bot, "text "), (0..=number).collect::<Vec<_>>(), "each, in order");
        Ok(())
    })?;
    assert!(rounds > 8, "{rounds}");
    Ok(())
}

#[test]
fn forty_faults_in_the_middle_of_streams_lose_no_final_text() -> Outcome {
    let methods = ["sendMessage", "editMessageText", "sendMessage", "getUpdates"];
    storm(&methods, |bot, number| {
        let text = format!(
            "say begun {number}. ;; run true ;; say on {number}. ;; run true ;; say end {number}."
        );
        bot.say(&text);
        let whole = format!("begun {number}.\n\non {number}.\n\nend {number}.");
        hear(bot, &whole)?;
        Ok(())
    })?;
    Ok(())
}

#[test]
fn forty_faults_answer_no_question_twice_or_for_another() -> Outcome {
    let methods = ["sendMessage", "editMessageText", "answerCallbackQuery", "getUpdates"];
    storm(&methods, |bot, number| {
        let text = format!("approve go {number}.? ;; say went {number}.");
        bot.say(&text);
        let asked = format!("go {number}.?");
        // A card that came twice, since the answer to the first was lost, has the same buttons.
        let card = hear(bot, &asked)?;
        let (label, fate) = if number % 2 == 0 { (0, "Allowed once") } else { (2, "Denied") };
        for _ in 0..2 {
            bot.api.press_data(ME, ME, card.id, &card.buttons[label].1);
        }
        let told = |all: &[Message]| {
            let cards = all.iter().filter(|message| message.text.contains(&asked));
            cards.clone().any(|card| card.text.contains(fate)).then_some(())
        };
        through(bot, told, &format!("{asked} {fate}"))?;
        if number % 2 == 0 {
            hear(bot, &format!("went {number}."))?;
        }
        let events: Vec<Value> = {
            let all = bot.house.ok(&["events"])?;
            all.lines().map(serde_json::from_str).collect::<Result<_, _>>()?
        };
        let asks: Vec<_> = events.iter().filter(|event| event["event"] == "asked").collect();
        let answers: Vec<_> = events.iter().filter(|it| it["event"] == "answer_began").collect();
        assert_eq!((asks.len(), answers.len()), (number + 1, number + 1), "each once");
        for (number, (ask, answer)) in asks.iter().zip(&answers).enumerate() {
            let wanted = if number % 2 == 0 { "allow" } else { "deny" };
            assert_eq!(ask["ask"]["text"], format!("go {number}.?"));
            assert_eq!(ask["ask"]["id"], answer["ask"], "for this question");
            assert_eq!(answer["answer"], wanted);
        }
        Ok(())
    })?;
    Ok(())
}
