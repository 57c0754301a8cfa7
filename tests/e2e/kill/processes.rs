//! `kill -9`, of anybody, at any time: the daemon, a holder, an agent, several of them.

use crate::support::dice::Dice;
use crate::support::house::{House, Outcome, await_gone, eventually, kill_and_wait, lives};
use crate::support::seeds;
use crate::support::wreck::{
    Canary, SETTLED, accounted_for, agents, each_entry_once, holder_of, marked, pid_of, text_of,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A session that is in the middle of a long tool, with a child that has left its group.
fn at_work(house: &House, name: &str) -> Outcome<Value> {
    house.rehearsal(name)?;
    house.turn(name, "orphan 600")?;
    house.ok(&["send", name, "touch-slowly slow.txt 100000 50"])?;
    let id = house.show(name)?["id"].clone();
    let mut events = house.follow(1)?;
    let tool = |e: &Value| e["event"] == "tool_began" && e["session"] == id;
    events.until(tool)?;
    events.until(tool)?;
    house.show(name)
}

fn one_agent_that_remembers(house: &House, name: &str, id: &str) -> Outcome {
    house.ok(&["resume", name])?;
    let session = house.turn(name, "recall")?;
    assert_eq!(agents(id), [pid_of(&session)?]);
    let said = house.talk(name)?.pop().ok_or("nothing said")?.1;
    assert!(said.contains("touch-slowly"), "{said}");
    each_entry_once(house, name)
}

#[test]
fn a_killed_holder_takes_its_agent_along_and_nothing_else() -> Outcome {
    let house = House::new()?;
    let session = at_work(&house, "blue")?;
    let id = text_of(&session, "id")?;
    assert_eq!(marked(&id).len(), 2, "agent and orphan");
    kill_and_wait(holder_of(pid_of(&session)?)?)?;
    let after = house.until("blue", "interrupted")?;
    assert_eq!((after["pid"].clone(), after["cut_off"].clone()), (Value::Null, true.into()));
    assert!(after["killed"].to_string().contains("sleep"), "{after}");
    assert_eq!(marked(&id), Vec::<i32>::new());
    one_agent_that_remembers(&house, "blue", &id)
}

#[test]
fn a_killed_daemon_and_a_killed_holder_leave_no_second_agent() -> Outcome {
    let house = House::new()?;
    let session = at_work(&house, "blue")?;
    let id = text_of(&session, "id")?;
    let holder = holder_of(pid_of(&session)?)?;
    house.kill_daemon()?;
    kill_and_wait(holder)?;
    assert_eq!(house.until("blue", SETTLED)?["status"], "interrupted");
    assert_eq!(marked(&id), Vec::<i32>::new());
    one_agent_that_remembers(&house, "blue", &id)
}

#[test]
fn a_killed_agent_is_told_that_its_turn_was_cut_off() -> Outcome {
    let house = House::new()?;
    let session = at_work(&house, "blue")?;
    let id = text_of(&session, "id")?;
    kill_and_wait(pid_of(&session)?)?;
    let after = house.until("blue", "interrupted")?;
    assert_eq!(after["cut_off"], true);
    assert_eq!(marked(&id), Vec::<i32>::new());
    one_agent_that_remembers(&house, "blue", &id)?;
    let told = house.talk("blue")?.into_iter().any(|(_, text)| text.contains("cut off"));
    assert!(told, "the agent has to know");
    Ok(())
}

#[test]
fn the_last_words_of_an_agent_are_kept_though_nobody_listened() -> Outcome {
    for last in ["crash", "die 0", "die 3"] {
        let house = House::new()?;
        house.rehearsal("blue")?;
        house.ok(&["send", "blue", &format!("work 0.3 ;; stream 30 200 ;; {last}")])?;
        let session = house.until("blue", "busy")?;
        let holder = holder_of(pid_of(&session)?)?;
        house.kill_daemon()?;
        await_gone(pid_of(&session)?)?;
        await_gone(holder)?;
        house.until("blue", "interrupted,suspended")?;
        let talk = house.talk("blue")?;
        let words: Vec<_> = talk.iter().filter(|(voice, _)| voice == "assistant").collect();
        assert_eq!(words.len(), 30, "{last}: {talk:?}");
        each_entry_once(&house, "blue")?;
    }
    Ok(())
}

#[test]
fn what_a_killed_holder_had_not_read_is_in_the_conversation() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say one")?;
    let wait = "run until [ -e gate ]; do sleep 0.02; done";
    house.ok(&["send", "blue", &format!("{wait} ;; say one ;; run true ;; say two")])?;
    let session = house.until("blue", "busy")?;
    house.follow(1)?.until(|event| event["event"] == "tool_began")?;
    let holder = holder_of(pid_of(&session)?)?;
    kill_process(Pid::from_raw(holder).ok_or("pid")?, Signal::STOP)?;
    std::fs::write(house.file("blue", "gate")?, "")?;
    let id = text_of(&session, "agent_session_ref")?;
    let transcript = house.home().join("rehearsal").join(format!("{id}.jsonl"));
    let turns = || std::fs::read_to_string(&transcript).map(|t| t.matches("turn_ended").count());
    eventually("the turn ends", || turns().is_ok_and(|ended| ended == 2))?;
    kill_and_wait(holder)?;
    let after = house.until("blue", "interrupted")?;
    assert_eq!(after["cut_off"], false, "its turn was over: {after}");
    let talk = house.talk("blue")?;
    let voices: Vec<_> = talk.iter().map(|(voice, _)| voice.as_str()).collect();
    let turns = ["user", "assistant", "user", "tool", "assistant", "tool", "assistant"];
    assert_eq!(voices, turns, "{talk:?}");
    assert_eq!(talk.last().map(|(_, text)| text.as_str()), Some("two"));
    each_entry_once(&house, "blue")?;
    house.ok(&["resume", "blue"])?;
    house.turn("blue", "recall")?;
    assert_eq!(house.talk("blue")?.iter().filter(|(_, text)| text == "two").count(), 1);
    Ok(())
}

#[test]
fn the_last_words_in_a_terminal_are_kept_as_well() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.ok(&["send", "blue", "work 0.3 ;; say one ;; say two ;; crash"])?;
    let session = house.until("blue", "busy")?;
    house.kill_daemon()?;
    await_gone(pid_of(&session)?)?;
    house.until("blue", "interrupted")?;
    let talk = house.talk("blue")?;
    assert!(talk.iter().any(|(_, text)| text == "two"), "{talk:?}");
    each_entry_once(&house, "blue")
}

#[test]
fn a_holder_that_is_stopped_holds_nobody_else_up() -> Outcome {
    let house = House::new()?;
    let session = at_work(&house, "blue")?;
    house.rehearsal("red")?;
    let holder = Pid::from_raw(holder_of(pid_of(&session)?)?).ok_or("no pid")?;
    kill_process(holder, Signal::STOP)?;
    house.kill_daemon()?;
    let red = house.turn("red", "say hello");
    let blue = house.show("blue");
    kill_process(holder, Signal::CONT)?;
    red?;
    assert_eq!(blue?["pid"], session["pid"], "it was not given up");
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}

#[test]
fn an_exit_signal_ends_the_daemon_and_no_agent() -> Outcome {
    let house = House::new()?;
    let session = at_work(&house, "blue")?;
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT")] {
        let daemon = house.daemon_pid()?;
        kill_process(Pid::from_raw(daemon).ok_or("no pid")?, signal)?;
        await_gone(daemon)?;
        let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
        assert!(diary.contains(&format!("Received exit signal {name}")), "{diary}");
        let adopted = house.show("blue")?;
        assert_eq!((&adopted["pid"], &adopted["status"]), (&session["pid"], &"busy".into()));
    }
    Ok(())
}

#[test]
fn an_exit_signal_ends_the_page_and_is_told() -> Outcome {
    let house = House::new()?;
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT")] {
        let mut command = house.glis();
        command.args(["web", "--listen", "127.0.0.1:0"]);
        let mut web = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        BufReader::new(web.stdout.take().ok_or("no stdout")?).read_line(&mut String::new())?;
        kill_process(Pid::from_child(&web), signal)?;
        let output = web.wait_with_output()?;
        let told = String::from_utf8(output.stderr)?;
        assert!(output.status.success(), "{told}");
        assert_eq!(told, format!("Received exit signal {name}\n"));
    }
    Ok(())
}

#[test]
fn the_log_tells_how_each_process_was_ended() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\ninterrupt_secs = 1\nterminate_secs = 2\n")?;
    house.rehearsal("gentle")?;
    let gentle = pid_of(&house.turn("gentle", "say hello")?)?;
    house.ok(&["stop", "gentle"])?;
    let script = "trap '' INT TERM HUP; printf 'Ready? '; while :; do sleep 0.1; done";
    house.command("deaf", &["sh", "-c", script])?;
    let deaf = pid_of(&house.until("deaf", "waiting")?)?;
    house.ok(&["stop", "deaf"])?;
    let held = at_work(&house, "held")?;
    let agent = pid_of(&held)?;
    let left = marked(&text_of(&held, "id")?);
    let orphan = left.into_iter().find(|pid| *pid != agent).ok_or("no orphan")?;
    kill_and_wait(holder_of(agent)?)?;
    house.until("held", "interrupted")?;
    let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
    for told in [
        format!("Process {gentle} terminated gracefully\n"),
        format!("Process {deaf} did not exit within 2s, sending SIGKILL\n"),
        format!("Process {deaf} killed\n"),
        format!("Killing orphaned subprocess: PID {orphan}\n"),
        format!("Process {orphan} terminated gracefully\n"),
    ] {
        assert_eq!(diary.matches(&told).count(), 1, "{told}{diary}");
    }
    assert!(!diary.contains(&format!("Process {deaf} terminated")), "{diary}");
    Ok(())
}

#[test]
fn stopping_the_daemon_with_its_agents_suspends_them_all() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\ninterrupt_secs = 1\nterminate_secs = 2\n")?;
    let blue = at_work(&house, "blue")?;
    house.rehearsal("red")?;
    let red = house.turn("red", "say hello")?;
    house.ok(&["daemon", "stop", "--agents"])?;
    assert!(!lives(pid_of(&blue)?) && !lives(pid_of(&red)?));
    assert_eq!(house.show("blue")?["status"], "suspended");
    assert_eq!(house.show("red")?["status"], "suspended");
    one_agent_that_remembers(&house, "blue", &text_of(&blue, "id")?)
}

const NAMES: [&str; 4] = ["blue", "green", "red", "white"];

struct Soak {
    house: House,
    dice: Dice,
    sent: Vec<(&'static str, String)>,
    ids: Vec<String>,
    canaries: Vec<Canary>,
}

impl Soak {
    fn new(seed: u64) -> Outcome<Self> {
        let house = House::new()?;
        house
            .configure("[pause]\nsafe_state_secs = 2\ninterrupt_secs = 1\nterminate_secs = 1\n")?;
        let mut ids = Vec::new();
        for (number, name) in NAMES.into_iter().enumerate() {
            // Half of them in a terminal: typed into, and read by their transcripts.
            let made =
                if number % 2 == 0 { house.rehearsal(name) } else { house.in_terminal(name) };
            ids.push(text_of(&made?, "id")?);
        }
        let canaries = (0..4).map(|_| Canary::new()).collect::<Outcome<_>>()?;
        Ok(Self { house, dice: Dice::of(seed), sent: Vec::new(), ids, canaries })
    }

    /// Several verbs at once, and a kill somewhere among them.
    fn round(&mut self, number: usize) -> Outcome {
        let mut verbs = Vec::new();
        for which in 0..3 {
            let name = *self.dice.one_of(&NAMES);
            let text = format!("say m{number}-{which}x");
            let args: Vec<&str> = match self.dice.below(7) {
                0 => vec!["pause", name],
                1 => vec!["pause", name, "--mode", "force"],
                2 | 3 => vec!["resume", name],
                4 => vec!["stop", name],
                _ => vec!["--json", "send", name, &text],
            };
            let child =
                self.house.glis().args(&args).stdout(std::process::Stdio::piped()).spawn()?;
            verbs.push((child, args.contains(&"send").then(|| (name, text.clone()))));
        }
        let delay = Duration::from_millis(self.dice.below(60));
        let whom = self.dice.below(4);
        let victim = usize::try_from(self.dice.below(4))?;
        // The moment of the kill is the point; nothing is waited for here.
        std::thread::sleep(delay);
        self.strike(whom, victim);
        for (child, message) in verbs {
            let output = child.wait_with_output()?;
            if let Some(message) = message.filter(|_| output.status.success()) {
                self.sent.push(message);
            }
        }
        self.check()
    }

    fn strike(&self, whom: u64, victim: usize) {
        let agent = agents(&self.ids[victim]).first().copied();
        match (whom, agent) {
            (0, _) => drop(self.house.kill_daemon()),
            (1, Some(agent)) => drop(kill_and_wait(agent)),
            (2, Some(agent)) => drop(holder_of(agent).and_then(kill_and_wait)),
            (3, Some(agent)) => {
                let holder = holder_of(agent);
                drop(self.house.kill_daemon());
                drop(holder.and_then(kill_and_wait));
            }
            _ => {}
        }
    }

    fn check(&mut self) -> Outcome {
        for (name, id) in NAMES.iter().zip(&self.ids) {
            self.house.until(name, SETTLED)?;
            let running = agents(id);
            assert!(running.len() <= 1, "{name}: {running:?}");
        }
        for (name, text) in &self.sent {
            accounted_for(&self.house, name, text)?;
        }
        assert!(self.canaries.iter_mut().all(Canary::sings), "a stranger was hit");
        Ok(())
    }
}

/// One seed for some seconds; a seed that fails is a story of its own. `GLIS_SOAK_SECS` makes a
/// night of it.
fn soak(seed: u64) -> Outcome {
    let asked = std::env::var("GLIS_SOAK_SECS").ok().and_then(|secs| secs.parse().ok());
    eprintln!("GLIS_SEED={seed} plays this again");
    let mut soak = Soak::new(seed)?;
    let until = Instant::now() + Duration::from_secs(asked.unwrap_or(8));
    let mut number = 0;
    while Instant::now() < until {
        soak.round(number).map_err(|fault| format!("GLIS_SEED={seed}, round {number}: {fault}"))?;
        number += 1;
    }
    for name in NAMES {
        each_entry_once(&soak.house, name)?;
        // Whatever happened: it can still be brought back, and answers.
        soak.house
            .ok(&["resume", name])
            .or_else(|_| soak.house.ok(&["send", name, "say hello"]))?;
    }
    soak.check()
}

#[test]
fn random_verbs_and_random_kills_lose_nothing() -> Outcome {
    soak(0x5eed_0001)
}

#[test]
fn other_random_verbs_and_kills_lose_nothing_either() -> Outcome {
    soak(0x5eed_0002)
}

#[test]
fn verbs_and_kills_from_a_fresh_seed_lose_nothing_either() -> Outcome {
    let wish = std::env::var("GLIS_SEED").ok();
    seeds::fresh(wish.as_deref(), 1)?.into_iter().try_for_each(soak)
}
