//! What the world outside does to a house: reboots and numbers that are given again, a clock that
//! jumps, a terminal that is resized without end, a log that may not be read.

use super::client::connector;
use crate::support::house::{Background, House, Outcome, kill_and_wait, lives};
use crate::support::wreck::{
    Canary, Foreground, SETTLED, agents, folder, holder_of, marked, pid_of, recorded, rewrite,
    text_of,
};
use glis_client::Quiet;
use glis_core::pause::PauseMode;
use glis_wire::client::{Action, Request};
use glis_wire::frame::{Decoder, encode_words};
use glis_wire::hold::{Order, Report, Size, place};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Which part of what was recorded about a process is no longer true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    /// The machine was started anew, and everything but the boot is the stranger's.
    Boot,
    /// The process ended, and another one got its number.
    Start,
}

/// Makes every process on record one whose number a stranger has now.
fn give_number_to(stranger: &Canary, home: &Path, stale: Stale) -> Outcome {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", stranger.pid()))?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no stat")?;
    let ticks: u64 = rest.split_ascii_whitespace().nth(19).ok_or("no start")?.parse()?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let changed = rewrite(home, |event| {
        let Some(process) = event.pointer_mut("/process_started/process") else { return };
        assert_eq!(process["boot_id"], boot.as_str(), "what is compared is what was recorded");
        process["pid"] = json!(stranger.pid());
        match stale {
            Stale::Boot => {
                process["start_ticks"] = json!(ticks);
                process["boot_id"] = json!("8a5f6a0e-0000-4000-8000-000000000000");
            }
            Stale::Start => process["start_ticks"] = json!(ticks + 100),
        }
    })?;
    assert_eq!(changed, 1, "there was one process");
    Ok(())
}

/// Everything ends at once and leaves no word, as when the power fails.
fn all_ends(session: &Value) -> Outcome {
    let agent = pid_of(session)?;
    let holder = holder_of(agent)?;
    kill_and_wait(holder)?;
    marked(&text_of(session, "id")?).into_iter().try_for_each(kill_and_wait)
}

#[test]
fn after_a_reboot_the_stranger_with_the_old_number_is_left_alone() -> Outcome {
    for stale in [Stale::Boot, Stale::Start] {
        // Where the daemon was when everything ended, and what the session is afterwards.
        for (verb, moment, after) in [
            (&[][..], "", "interrupted"),
            (&["stop", "blue"], "after:stop_began", "suspended"),
            (&["pause", "blue", "--mode", "force"], "after:end_began", "paused"),
        ] {
            let house = House::new()?;
            let mut stranger = Canary::new()?;
            house.rehearsal("blue")?;
            house.turn("blue", "say first")?;
            house.ok(&["send", "blue", "work 600"])?;
            let session = house.until("blue", "busy")?;
            house.ok(&["daemon", "stop"])?;
            let daemon = Foreground::start(&house, &[("GLIS_FAILPOINT", moment)])?;
            if verb.is_empty() {
                kill_and_wait(daemon.pid()?)?;
            } else {
                // Asked once: the command line would ask the next daemon for a stop.
                let action = match verb {
                    ["stop", ..] => Action::Stop,
                    _ => Action::Pause {
                        mode: Some(PauseMode::Force),
                        on_timeout: None,
                        clearing: None,
                        for_secs: None,
                    },
                };
                let mut client = connector(&house)?.connect(&mut Quiet)?;
                let asked = Request::Act { session: "blue".to_owned(), action };
                assert!(client.call(asked).is_err(), "{verb:?}: the daemon is gone");
                daemon.end()?;
            }
            all_ends(&session)?;
            give_number_to(&stranger, &house.home(), stale)?;
            std::fs::write(house.home().join("daemon.lock"), format!("{}\n", stranger.pid()))?;
            let found = house.until("blue", SETTLED)?;
            assert_eq!(found["status"], after, "{stale:?} {verb:?}");
            assert_eq!((&found["pid"], &found["resumable"]), (&Value::Null, &true.into()));
            assert_eq!(found["killed"], json!([]), "{stale:?} {verb:?}");
            house.ok(&["resume", "blue"])?;
            let back = house.turn("blue", "recall")?;
            assert_eq!(agents(&text_of(&session, "id")?), [pid_of(&back)?]);
            let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
            assert!(said.contains("say first"), "{said}");
            house.ok(&["stop", "blue"])?;
            house.ok(&["daemon", "stop", "--agents"])?;
            assert!(stranger.sings(), "{stale:?} {verb:?}: a stranger was hit");
            let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
            let spared = format!("PID {} is not ours: sleep 600\n", stranger.pid());
            assert!(diary.contains(&spared), "{stale:?} {verb:?}: {diary}");
        }
    }
    Ok(())
}

#[test]
fn after_a_reboot_an_idle_agent_is_suspended_and_one_at_work_interrupted() -> Outcome {
    let house = House::new()?;
    for (name, work) in [("idle", "say first"), ("busy", "work 600"), ("asks", "question Which?")] {
        house.rehearsal(name)?;
        house.ok(&["send", name, work])?;
        house.until(name, if name == "asks" { "waiting" } else { name })?;
    }
    house.turn("idle", "say second")?;
    house.command("shell", &["sh"])?;
    let shell = house.until("shell", "idle")?;
    let sessions = ["idle", "busy", "asks"].map(|name| house.show(name));
    house.kill_daemon()?;
    for session in sessions {
        all_ends(&session?)?;
    }
    all_ends(&shell)?;
    let changed = rewrite(&house.home(), |event| {
        if let Some(process) = event.pointer_mut("/process_started/process") {
            process["boot_id"] = json!("8a5f6a0e-0000-4000-8000-000000000000");
        }
    })?;
    assert_eq!(changed, 4);
    for (name, after) in [
        ("idle", "suspended"),
        ("busy", "interrupted"),
        ("asks", "interrupted"),
        // What a shell knew went with it.
        ("shell", "interrupted"),
    ] {
        assert_eq!(house.until(name, SETTLED)?["status"], after, "{name}");
    }
    let mut events = house.follow(1)?;
    let told = events.until(|event| event["event"] == "interrupted")?;
    assert_eq!(told["why"], "the machine was restarted");
    // The next message brings it back, in its own conversation.
    house.turn("idle", "recall")?;
    let said = house.talk("idle")?.pop().ok_or("nothing said")?.1;
    assert!(said.contains("say second"), "{said}");
    Ok(())
}

#[test]
fn what_died_while_no_daemon_ran_is_resumed_by_itself_only_where_that_is_wanted() -> Outcome {
    for wanted in [false, true] {
        let house = House::new()?;
        house.configure(&format!("[resume]\ninterrupted = {wanted}\n"))?;
        for name in ["long", "idle", "busy"] {
            house.rehearsal(name)?;
            house.turn(name, "say first")?;
        }
        // One that its user has seen interrupted, and left so.
        kill_and_wait(pid_of(&house.show("long")?)?)?;
        house.until("long", "interrupted")?;
        house.ok(&["send", "busy", "work 600"])?;
        let died = [house.show("idle")?, house.until("busy", "busy")?];
        house.kill_daemon()?;
        died.iter().try_for_each(all_ends)?;
        let after = if wanted { "idle" } else { "interrupted" };
        for name in ["idle", "busy"] {
            assert_eq!(house.until(name, after)?["status"], after, "{name}");
        }
        assert_eq!(house.show("long")?["status"], "interrupted");
        if !wanted {
            // They are offered together, and nothing else is touched by it.
            let told = house.json(&["resume", "--interrupted"])?;
            assert_eq!(told.as_array().map(Vec::len), Some(3), "{told}");
            for name in ["long", "idle", "busy"] {
                house.until(name, "idle")?;
            }
            assert_eq!(house.json(&["resume", "--interrupted"])?, json!([]));
        }
    }
    Ok(())
}

/// Seconds in ten years, and in an hour.
const TEN_YEARS: i64 = 10 * 365 * 86_400;
const HOUR: i64 = 3600;

/// A daemon whose clock can be set while it runs.
struct Clock(PathBuf);

impl Clock {
    fn daemon(&self, house: &House) -> Outcome<Foreground> {
        Foreground::start(house, &[("GLIS_CLOCK", &self.0.to_string_lossy())])
    }

    fn wrong_by(&self, secs: i64) -> Outcome {
        // Read at any moment: never half of it.
        let fresh = self.0.with_extension("fresh");
        std::fs::write(&fresh, secs.to_string())?;
        Ok(std::fs::rename(fresh, &self.0)?)
    }
}

/// A wait of two seconds takes two seconds, whatever the clock says meanwhile.
fn two_seconds(house: &House, clock: &Clock, jump: i64, verb: &[&str]) -> Outcome<Value> {
    let begun = Instant::now();
    let mut waiting = Background::start(house.glis().arg("--json").args(verb))?;
    if verb[0] == "pause" {
        house.until("blue", "pausing")?;
    }
    clock.wrong_by(jump)?;
    let status = waiting.0.wait()?;
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(1900), "{verb:?} by {jump}: only {took:?}");
    assert!(took < Duration::from_secs(20), "{verb:?} by {jump}: {took:?}");
    assert!(!status.success(), "{verb:?}");
    let mut said = String::new();
    waiting.0.stdout.as_mut().ok_or("no stdout")?.read_to_string(&mut said)?;
    Ok(serde_json::from_str(&said)?)
}

#[test]
fn a_clock_that_jumps_times_nothing_and_loses_nothing() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\nsafe_state_secs = 2\ninterrupt_secs = 1\nterminate_secs = 1\n")?;
    let clock = Clock(house.repo().join("../clock"));
    clock.wrong_by(0)?;
    let daemon = clock.daemon(&house)?;
    let args = ["new", "blue", "--agent", "rehearsal", "--headless", "--idle-timeout", "1m"];
    house.json(&[&args[..], &["--", "--misbehave", "ignore-int"]].concat())?;
    house.turn("blue", "say first")?;
    house.in_terminal("red")?;
    house.ok(&["send", "blue", "work 600"])?;
    let busy = house.until("blue", "busy")?;
    let red = house.show("red")?;
    for jump in [TEN_YEARS, -HOUR, 0] {
        let refused = two_seconds(&house, &clock, jump, &["pause", "blue"])?;
        assert_eq!(refused["error"]["kind"], "not_safe", "{refused}");
        let wait = ["wait", "blue", "--for", "paused", "--timeout", "2s"];
        let late = two_seconds(&house, &clock, -jump, &wait)?;
        assert_eq!(late["error"]["kind"], "timed_out", "{late}");
        clock.wrong_by(jump)?;
        assert_eq!(house.show("blue")?["pid"], busy["pid"], "nothing ends for that");
        let idle = house.turn("red", "say hello")?;
        assert_eq!((&idle["status"], &idle["pid"]), (&"idle".into(), &red["pid"]));
        house.ok(&["ls"])?;
    }
    // Whoever comes after such a clock finds everything as it was.
    kill_and_wait(daemon.pid()?)?;
    let _daemon = clock.daemon(&house)?;
    assert_eq!(house.until("blue", "busy")?["pid"], busy["pid"]);
    assert_eq!(house.json(&["pause", "blue", "--mode", "force"])?["status"], "paused");
    assert_eq!(house.json(&["pause", "red"])?["status"], "paused");
    let all = house.ok(&["events"])?;
    let events = all.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
    for (seq, event) in (1_u64..).zip(&events) {
        assert_eq!(event["seq"], seq, "no gaps: {event}");
    }
    let years: Vec<i32> =
        events.iter().filter_map(|event| event["at"].as_str()?.get(..4)?.parse().ok()).collect();
    let (first, last) = (years.iter().min().ok_or("no year")?, years.iter().max().ok_or("none")?);
    assert!(last - first >= 9, "the clock did jump: {first} to {last}");
    assert_eq!(house.talk("red")?.iter().filter(|(_, text)| text == "hello").count(), 3);
    Ok(())
}

/// A client of a holder, as an attached terminal is one.
struct Window {
    holder: UnixStream,
    reports: Decoder,
}

impl Window {
    fn open(house: &House, id: &str) -> Outcome<Self> {
        let holder = UnixStream::connect(folder(house, id).join(place::SOCKET))?;
        holder.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self { holder, reports: Decoder::default() })
    }

    fn resize(&mut self, columns: u16, rows: u16) -> Outcome {
        let order = Order::Resize(Size { columns, rows });
        Ok(self.holder.write_all(&encode_words(&order))?)
    }

    fn report(&mut self) -> Outcome<Report> {
        loop {
            if let Some(frame) = self.reports.next_frame()? {
                return Ok(frame.words()?);
            }
            let mut piece = [0; 4096];
            match self.holder.read(&mut piece)? {
                0 => return Err("the holder has gone".into()),
                read => self.reports.feed(&piece[..read]),
            }
        }
    }

    /// Waits until the terminal has this size; how many others it had in between.
    fn until(&mut self, columns: u16, rows: u16) -> Outcome<usize> {
        let mut others = 0;
        loop {
            let report = self.report()?;
            if let Report::Refused { why, .. } = report {
                return Err(why.into());
            }
            if let Report::Resized { size, .. } = report {
                if size == (Size { columns, rows }) {
                    return Ok(others);
                }
                others += 1;
            }
        }
    }
}

#[test]
fn ten_thousand_sizes_and_impossible_ones_are_survived() -> Outcome {
    let house = House::new()?;
    let echo = "while read -r line; do echo \"$line $(stty size)\"; done";
    let session = house.command("blue", &["sh", "-c", echo])?;
    let id = text_of(&session, "id")?;
    let mut window = Window::open(&house, &id)?;
    // All at once, as a window that is dragged and a program that lies: most are never applied.
    let begun = Instant::now();
    for number in 0..10_000_u16 {
        match number % 100 {
            0 => window.resize(0, 0)?,
            50 => window.resize(u16::MAX, u16::MAX)?,
            _ => window.resize(20 + number % 90, 5 + number % 40)?,
        }
    }
    window.resize(97, 31)?;
    let applied = window.until(97, 31)?;
    assert!(applied < 10_000, "none was left out");
    // One by one, so that each is applied.
    for number in 0..10_000_u16 {
        window.resize(20 + number % 90, 5 + number % 40)?;
        window.until(20 + number % 90, 5 + number % 40)?;
    }
    // Two seconds on a quiet machine.
    assert!(begun.elapsed() < Duration::from_secs(180), "{:?}", begun.elapsed());
    for (columns, rows, applied) in
        [(0, 0, (2, 1)), (u16::MAX, u16::MAX, (1000, 1000)), (0, u16::MAX, (2, 1000))]
    {
        window.resize(columns, rows)?;
        window.until(applied.0, applied.1)?;
    }
    window.resize(97, 31)?;
    window.until(97, 31)?;
    let noted = folder(&house, &id).join(place::SIZES).metadata()?.len();
    assert!(noted < 300_000, "{noted} bytes of sizes");
    house.ok(&["send", "blue", "now"])?;
    let begun = Instant::now();
    let shows = |house: &House| -> Outcome<String> {
        let mut events = house.follow(1)?;
        loop {
            let screen = house.ok(&["screen", "blue"])?;
            if screen.contains("now 31 97") {
                return Ok(screen);
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{screen}");
            // Whatever is printed is followed by a look at the screen.
            events.until(|e| e["event"] == "screen_judged")?;
        }
    };
    let screen = shows(&house)?;
    assert!(screen.lines().count() <= 31, "{screen}");
    house.kill_daemon()?;
    assert_eq!(house.ok(&["screen", "blue"])?, screen, "derived anew");
    assert_eq!(house.show("blue")?["pid"], session["pid"]);
    assert_eq!(house.json(&["pause", "blue", "--mode", "force"])?["status"], "paused");
    assert_eq!(house.ok(&["screen", "blue"])?, screen, "as it was");
    Ok(())
}

/// A house of somebody who is not allowed everything: for root, file modes mean nothing.
pub(crate) struct Tenant<'a> {
    house: &'a House,
    program: PathBuf,
}

/// By custom the user and the group of those who have nothing.
const NOBODY: u32 = 65_534;

impl<'a> Tenant<'a> {
    pub(crate) fn new(house: &'a House) -> Outcome<Self> {
        let yard = house.repo().parent().ok_or("no parent")?.to_owned();
        let program = yard.join("glis");
        std::fs::copy(crate::support::house::program(), &program)?;
        let tenant = Self { house, program };
        if is_root() {
            let status = Command::new("chown").arg("-R").arg("65534:65534").arg(&yard).status()?;
            assert!(status.success());
        }
        Ok(tenant)
    }

    pub(crate) fn glis(&self, args: &[&str]) -> Command {
        let mut command = Self::command(&self.program);
        let yard = self.house.repo().join("..");
        self.house.enter(&mut command).env("HOME", yard).current_dir(self.house.repo());
        command.arg("--json").args(args);
        command
    }

    /// A program that runs as the tenant does.
    pub(crate) fn command(program: &Path) -> Command {
        if !is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
        command.args(ids).arg("--clear-groups").arg(program);
        command
    }

    pub(crate) fn json(&self, args: &[&str]) -> Outcome<Value> {
        let output = self.glis(args).output()?;
        if !output.status.success() {
            return Err(format!("{args:?}: {output:?}").into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_log_that_may_not_be_read_is_named_and_nobody_is_touched() -> Outcome {
    let house = House::new()?;
    let tenant = Tenant::new(&house)?;
    tenant.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "work 600"])?;
    let busy = tenant.json(&["wait", "blue", "--for", "busy", "--timeout", "40s"])?;
    let id = text_of(&busy, "id")?;
    for (mode, name, stop) in [
        (0o000, "events.db", "stop"),
        (0o000, "events.db", "kill"),
        (0o400, "events.db", "stop"),
        (0o000, "events.db-wal", "kill"),
        (0o400, "events.db-wal", "kill"),
    ] {
        let pid = tenant.json(&["daemon", "status"])?["pid"].as_i64().ok_or("no pid")?;
        if stop == "kill" {
            kill_and_wait(i32::try_from(pid)?)?;
        } else {
            tenant.json(&["daemon", "stop"])?;
        }
        let log = house.home().join(name);
        let before = std::fs::read(&log)?;
        std::fs::set_permissions(&log, PermissionsExt::from_mode(mode))?;
        let output = tenant.glis(&["ls"]).output()?;
        let told: Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(output.status.code(), Some(8), "{name} {mode:o}: {told}");
        let message = text_of(&told["error"], "message")?;
        assert!(message.contains(&log.display().to_string()), "{name} {mode:o}: {message}");
        let facts = log.metadata()?;
        assert_eq!(facts.permissions().mode() & 0o777, mode, "left as it was");
        assert_eq!(std::fs::read(&log)?, before, "{name} {mode:o}: left as it was");
        let kept = std::fs::read_dir(house.home())?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .any(|name| name.contains("damaged"));
        assert!(!kept, "{name} {mode:o}: what may not be read is no damage");
        assert!(lives(pid_of(&busy)?), "{name} {mode:o}");
        std::fs::set_permissions(&log, PermissionsExt::from_mode(0o600))?;
        let found = tenant.json(&["show", "blue"])?;
        assert_eq!((&found["pid"], &found["status"]), (&busy["pid"], &"busy".into()));
        assert_eq!(agents(&id), [pid_of(&busy)?]);
    }
    assert!(!recorded(&house.home())?.is_empty());
    Ok(())
}
