//! Thousands of sessions at rest: every face lists what lives and the latest of what rests, and what lives is not slowed.
//!
//! Here they are four thousand; `cargo xtask sessions-many` plays twenty thousand.

use crate::support::bot::BotHouse;
use crate::support::crowd::{gather, name};
use crate::support::house::{House, Outcome, eventually};
use crate::support::tmux::Tmux;
use crate::support::web::Web;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Set by `cargo xtask sessions-many`: so many sessions.
const SESSIONS: &str = "GLIS_MANY_SESSIONS";
const USUAL_SESSIONS: usize = 4000;

/// So many that rest are listed.
const RESTING: usize = 200;

/// What a session at rest may hold of the memory of a daemon in silence.
const BYTES_PER_SESSION: usize = 2600;

fn names(list: &Value) -> Outcome<Vec<&str>> {
    let rows = list.as_array().ok_or("no array")?.iter();
    Ok(rows.filter_map(|row| row["name"].as_str()).collect())
}

/// The shortest of a few times that something takes: the machine is never quiet.
fn took(what: &str, mut act: impl FnMut() -> Outcome) -> Outcome<Duration> {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let begun = Instant::now();
        act()?;
        least = least.min(begun.elapsed());
    }
    eprintln!("{what:<28} {:>6} ms", least.as_millis());
    Ok(least)
}

fn kib_of(daemon: i32) -> Outcome<usize> {
    let status = std::fs::read_to_string(format!("/proc/{daemon}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().next().ok_or("no number")?.parse()?)
}

/// How long it takes to pause something that runs.
fn pauses(house: &House, what: &str) -> Outcome<Duration> {
    took(what, || {
        house.ok(&["resume", "lively"])?;
        house.until("lively", "idle")?;
        house.ok(&["pause", "lively"]).map(drop)
    })
}

/// What a terminal, a page and a phone show of them.
fn faces(bot: &mut BotHouse, more: usize) -> Outcome {
    let house = &bot.house;
    if let Some(tmux) = Tmux::start(house)? {
        took("first frame of the overview", || {
            tmux.line("one", "clear; glis")?;
            tmux.sees("one", &format!("{more} more at rest"))?;
            tmux.key("one", "q")?;
            tmux.until("one", |screen| screen.trim_end().ends_with('$')).map(drop)
        })?;
    }
    let web = Web::start(house)?;
    let token = house.json(&["web", "token", "--name", "script", "--scope", "watch"])?;
    let token = token["token"].as_str().ok_or("no token")?;
    took("what the page begins with", || {
        for path in ["/", "/api/v1/device", "/api/v1/status", "/api/v1/sessions"] {
            assert_eq!(web.get(path, token)?.status, 200, "{path}");
        }
        Ok(())
    })?;
    assert_eq!(names(&web.get("/api/v1/sessions", token)?.json()?)?.len(), RESTING + 1);
    // A link leads to one that no list has.
    let shown = web.get(&format!("/api/v1/sessions/{}?glance=true", name(RESTING + 1)), token)?;
    assert_eq!(shown.json()?["status"], "suspended");
    bot.start()?;
    bot.ask("/sessions", &format!("{more} more rest for longer."))?;
    Ok(())
}

#[test]
fn thousands_at_rest_break_no_list_and_slow_nothing_that_lives() -> Outcome {
    let asked = std::env::var(SESSIONS).ok().and_then(|sessions| sessions.parse().ok());
    let count = asked.unwrap_or(USUAL_SESSIONS);
    let mut bot = BotHouse::still()?;
    let house = &bot.house;
    house.rehearsal("lively")?;
    house.turn("lively", "say it lives")?;
    let before = pauses(house, "a pause, before")?;
    house.rehearsal("like")?;
    house.turn("like", "write file.txt two\\n ;; say that is all")?;
    house.ok(&["stop", "like"])?;
    let alone = kib_of(house.daemon_pid()?)?;
    gather(house, "like", count)?;
    // The first daemon makes the log anew; what it holds is no measure of the next.
    house.ok(&["daemon", "start"])?;
    house.ok(&["daemon", "stop"])?;
    let begun = Instant::now();
    house.ok(&["daemon", "start"])?;
    eprintln!("a start {:>25} ms", begun.elapsed().as_millis());
    pauses(house, "a pause")?
        .checked_sub(before.saturating_mul(3))
        .map_or(Ok(()), |more| Err(format!("a pause takes three times as long, and {more:?}")))?;
    house.ok(&["resume", "lively"])?;
    house.until("lively", "idle")?;

    took("ls", || house.ok(&["ls"]).map(drop))?;
    let listed = house.glis().args(["--json", "ls"]).output()?;
    let (list, told): (Value, _) =
        (serde_json::from_slice(&listed.stdout)?, String::from_utf8(listed.stderr)?);
    let (list, more) = (names(&list)?, count + 1 - RESTING);
    assert_eq!((list.len(), list.first()), (RESTING + 1, Some(&"lively")));
    assert!(list.contains(&name(0).as_str()) && !list.contains(&name(RESTING).as_str()));
    assert_eq!(told.trim(), format!("{more} more at rest; `glis ls --all` lists them"));
    let all = house.json(&["ls", "--all"])?;
    assert_eq!(names(&all)?.len(), count + 2);
    assert_eq!(names(&all)?.last(), Some(&name(count - 1).as_str()));
    assert_eq!(house.show(&name(count - 1))?["status"], "suspended");
    faces(&mut bot, more)?;
    let daemon = bot.house.daemon_pid()?;
    let each = |kib: usize| kib.saturating_sub(alone) * 1024 / count;
    eprintln!("the daemon, just asked {:>10} KiB, before {alone} KiB", kib_of(daemon)?);
    let told = eventually("memory is given back", || {
        kib_of(daemon).is_ok_and(|kib| each(kib) <= BYTES_PER_SESSION)
    });
    eprintln!("the daemon, in silence {:>10} KiB", kib_of(daemon)?);
    told
}

#[test]
fn a_conversation_is_read_on_from_where_the_last_read_ended() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say one")?;
    let all = house.json(&["log", "blue"])?;
    let first = house.json(&["log", "blue", "--from", "0"])?;
    assert_eq!(first["entries"], all);
    let next = first["next"].to_string();
    let nothing = json!({"entries": [], "next": first["next"]});
    assert_eq!(house.json(&["log", "blue", "--from", &next])?, nothing);
    assert_eq!(house.json(&["log", "blue", "--from", "99999999"])?, nothing, "beyond the end");
    house.turn("blue", "say two")?;
    let rest = house.json(&["log", "blue", "--from", &next])?;
    let known = all.as_array().ok_or("no array")?.len();
    let whole = house.json(&["log", "blue"])?;
    assert_eq!(
        rest["entries"].as_array().map(Vec::as_slice),
        whole.as_array().and_then(|all| all.get(known..))
    );
    assert!(rest["next"].as_u64() > first["next"].as_u64());
    let words = house.ok(&["log", "blue", "--from", &next])?;
    assert!(words.contains("two") && !words.contains("say one"), "{words}");
    Ok(())
}
