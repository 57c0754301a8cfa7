//! Links that break at any moment and lose half of what is answered: nothing is missed, nothing is told or
//! done twice.

use super::guard::token;
use crate::support::dice::Dice;
use crate::support::house::{House, Outcome};
use crate::support::web::{Shown, Terminal, Web};
use serde_json::{Value, json};
use std::io::Read as _;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Each cuts a stream of events and a terminal.
const CUTS: u64 = 200;
/// Each of these many of them is also compared with what the command line prints.
const COMPARED_EACH: u64 = 20;
/// Up to so many frames are taken between two cuts; with `GLIS_FRAMES=24` it takes a minute.
const FRAMES: u64 = 2;
/// `GLIS_MESSAGES=1000` sends more.
const MESSAGES: usize = 300;
/// They go to so many sessions.
const SESSIONS: usize = 4;

#[test]
fn two_hundred_cuts_miss_no_event_and_leave_every_row_right() -> Outcome {
    let house = House::new()?;
    // Rows all over the screen, colours, and scrolling.
    let draw = "stty -echo; n=0; while :; do n=$((n+1)); \
        printf '\\033[%d;%dH\\033[3%dm<%d>\\033[0m' $((n*7%23+1)) $((n*5%60+1)) $((n%8)) $n; \
        [ $((n%9)) = 0 ] && printf '\\033[24;1Hline %d\\r\\n' $n; sleep 0.02; done";
    house.command("draws", &["sh", "-c", draw])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    // Something happens whenever an event is wanted: who falls behind would read ever more of the log.
    let (ask, asked) = sync_channel::<()>(64);
    std::thread::scope(|scope| -> Outcome {
        let (web, token) = (&web, &token);
        scope.spawn(move || {
            for (word, ()) in ["on", "off"].into_iter().cycle().zip(asked) {
                let path = "/api/v1/sessions/draws/auto-yes";
                drop(web.post(path, token, &json!({"switch": word})));
            }
        });
        cut(&house, web, token, ask)
    })
}

#[expect(clippy::needless_pass_by_value, reason = "what is asked for ends with it")]
fn cut(house: &House, web: &Web, token: &str, ask: SyncSender<()>) -> Outcome {
    let (mut dice, mut last, mut seen) = (Dice::of(7), 0, Shown::default());
    let mut resumed = 0;
    let wish = std::env::var("GLIS_FRAMES").ok().and_then(|number| number.parse().ok());
    for number in 0..CUTS {
        let mut events = web.events(token, Some(last))?;
        let mut terminal = Terminal::open(web, "draws", token, std::mem::take(&mut seen))?;
        let knew = !terminal.screen.rows.is_empty();
        for at in 0..=dice.below(wish.unwrap_or(FRAMES)) {
            assert!(terminal.take()?, "it goes on");
            let all = terminal.screen.rows.len();
            resumed += u64::from(knew && at == 0 && terminal.screen.told < all);
            assert!(knew || at > 0 || terminal.screen.told == all, "the first frame is whole");
        }
        for _ in 0..dice.below(3) {
            ask.send(())?;
            let (seq, _) = events.next()?.ok_or("the stream ended")?;
            assert_eq!(seq, last + 1, "each event once and in order");
            last = seq;
        }
        seen = terminal.screen;
        let at = seen.offset;
        let path = format!("/api/v1/sessions/draws/screen?at={at}");
        let mut wanted = web.get(&path, token)?.json()?;
        if number % COMPARED_EACH == 0 {
            let printed = house.json(&["screen", "draws", "--at", &at.to_string()])?;
            assert_eq!(printed["lines"], wanted["lines"], "the command line's");
            wanted = printed;
        }
        assert_eq!((&wanted["offset"], &wanted["lines"]), (&json!(at), &json!(seen.rows)));
    }
    assert!(resumed > CUTS / 2, "a page that comes again is told what has changed: {resumed}");
    Ok(())
}

#[test]
fn half_of_an_update_is_not_shown_and_one_without_an_end_is() -> Outcome {
    let house = House::new()?;
    // Every update fills the first two rows with its number, and is torn apart by a pause.
    let draw = "stty -echo; n=1000; while [ $n -lt 1150 ]; do n=$((n+1)); \
        printf '\\033[?2026h\\033[H%d\\r\\n' $n; sleep 0.01; printf '%d\\033[?2026l' $n; \
        done; printf '\\033[?2026h\\033[Hopen'; exec cat";
    house.command("draws", &["sh", "-c", draw])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let mut terminal = Terminal::open(&web, "draws", &token, Shown::default())?;
    let mut frames = 0;
    loop {
        terminal.take()?;
        let rows = &terminal.screen.rows;
        let [one, two] = rows.get(..2).ok_or("no rows")? else { return Err("no rows".into()) };
        if one.starts_with("open") {
            break;
        }
        // The picture that was painted before this page came may be of any moment.
        assert!(frames == 0 || one == two, "half of an update: {one} above {two}");
        frames += 1;
    }
    assert!(frames > 3, "{frames} frames");
    Ok(())
}

#[test]
fn messages_over_a_link_that_loses_half_of_the_answers_arrive_once() -> Outcome {
    let house = House::new()?;
    for number in 0..SESSIONS {
        house.rehearsal(&format!("s{number}"))?;
    }
    let web = Web::start(&house)?;
    let token = token(&house, "script", "send")?;
    std::thread::scope(|scope| -> Outcome {
        let (web, token) = (&web, &token);
        let senders: Vec<_> = (0..SESSIONS)
            .map(|session| {
                scope.spawn(move || send(web, token, session).map_err(|f| f.to_string()))
            })
            .collect();
        for sender in senders {
            sender.join().map_err(|_| "a sender panicked")??;
        }
        Ok(())
    })?;
    for number in 0..SESSIONS {
        let name = format!("s{number}");
        let mut news = house.follow(1)?;
        let id = house.show(&name)?["id"].clone();
        let mut taken = 0;
        while taken < share() {
            news.until(|event| event["event"] == "message_taken" && event["session"] == id)?;
            taken += 1;
        }
        house.until(&name, "idle")?;
        let said: Vec<_> =
            house.talk(&name)?.into_iter().filter(|(by, _)| by == "user").map(|(_, t)| t).collect();
        let wanted: Vec<_> = (0..share()).map(|at| format!("say {at}")).collect();
        assert_eq!(said, wanted, "{name}");
    }
    Ok(())
}

/// The messages for one session.
fn share() -> usize {
    let asked = std::env::var("GLIS_MESSAGES").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(MESSAGES) / SESSIONS
}

/// Sends in order. An answer that is lost is asked for again under the same key.
fn send(web: &Web, token: &str, session: usize) -> Outcome {
    let mut dice = Dice::of(session as u64 + 11);
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let path = format!("/api/v1/sessions/s{session}/send");
    for at in 0..share() {
        let (key, body) = (format!("s{session}-{at}"), json!({"text": format!("say {at}")}));
        loop {
            let headers = [
                ("Host", host.as_str()),
                ("Authorization", bearer.as_str()),
                ("X-Glis", "1"),
                ("Idempotency-Key", key.as_str()),
                ("Connection", "close"),
            ];
            let stream = web.open(&format!("POST {path}"), &headers, &body.to_string())?;
            match dice.below(4) {
                // Cut before the answer, or in the middle of it.
                0 => drop(stream),
                1 => drop((&stream).read(&mut [0; 20])?),
                _ => {
                    let mut told = String::new();
                    (&stream).read_to_string(&mut told)?;
                    let body = told.split_once("\r\n\r\n").ok_or("no body")?.1;
                    let told: Value = serde_json::from_str(body)?;
                    assert!(told["message"].is_u64(), "{told}");
                    break;
                }
            }
        }
    }
    Ok(())
}
