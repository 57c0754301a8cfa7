//! The overview as a person has it before them: how soon it is there, how soon a key is on it, and what it
//! costs to show a session that floods.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use glis_screen::Screen;
use glis_wire::hold::Size;
use rustix::time::{ClockId, clock_gettime};

use super::Plan;
use super::board::{Board, Reading};
use super::fleet::crew;
use super::house::{House, Peer};
use super::payload::FLOOD_MB_PER_SEC;
use super::pty::{SIZE, Seen, Terminal};
use super::streams::{END, Load};
use crate::proc::{self, Others};

/// What begins every picture of the overview.
const PICTURE: &[u8] = b"\x1b[?2026h";
/// What a terminal is asked, and what a dark one answers.
const QUESTION: &[u8] = b"\x1b[c";
const ANSWER: &[u8] = b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62;22c";
/// The session that floods.
const FLOOD: &str = "s-flood";
/// What does not happen by then does not happen.
const WAIT: Duration = Duration::from_secs(20);
/// Between two keys: no multiple of a frame, so that keys come at every moment of it.
const KEY_GAPS: [Duration; 3] =
    [Duration::from_millis(21), Duration::from_millis(34), Duration::from_millis(47)];
/// The emulator gets its bytes in pieces of the size that a holder sends them in.
const PIECE: usize = 64 * 1024;

/// All rows of the overview: one house of two hundred sessions for all of them.
pub(crate) fn tui(plan: &Plan, board: &mut Board) {
    let keys = ["tui open", "tui frames", "tui flood", "tui key"];
    let mut house = match crew(plan, Peer::Glis, plan.sessions(200)) {
        Ok(house) => house,
        Err(failure) => return board.take(keys[0], Peer::Glis, Err(failure)),
    };
    let Some(load) = plan.loads.iter().find(|load| load.name == "colour") else { return };
    for _ in 0..plan.passes {
        board.take("tui open", Peer::Glis, open(plan, &house));
    }
    for pass in 0..plan.passes {
        let name = format!("{FLOOD}{pass}");
        match flood(plan, &mut house, &name, load) {
            Ok(Flooded { frames, cpus, bare, key }) => {
                board.take("tui frames", Peer::Glis, Ok(frames));
                board.take("tui flood", Peer::Floor, Ok(bare));
                board.take("tui flood", Peer::Glis, Ok(cpus));
                board.take("tui key", Peer::Glis, Ok(key));
            }
            Err(failure) => board.take("tui flood", Peer::Glis, Err(failure)),
        }
    }
}

/// Milliseconds from starting the program to the whole list on the terminal.
fn open(plan: &Plan, house: &House<'_>) -> Result<Reading> {
    let others = Others::watch(&plan.programs.mark());
    let wanted = format!("{} sessions", plan.sessions(200));
    let mut times = Vec::new();
    for _ in 0..plan.tries(30) {
        let began = Instant::now();
        let mut window = Window::open(house)?;
        let full = |lines: &[String]| {
            let first = lines.first().is_some_and(|line| line.contains(&wanted));
            first && lines.last().is_some_and(|line| line.contains("? keys"))
        };
        window.until("the whole list", full)?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        window.close()?;
    }
    Ok(Reading { value: super::board::median(times), others: others.cpus() })
}

/// What one flood told.
struct Flooded {
    frames: Reading,
    cpus: Reading,
    bare: Reading,
    key: Reading,
}

fn flood(plan: &Plan, house: &mut House<'_>, name: &str, load: &Load) -> Result<Flooded> {
    let file = load.file.display().to_string();
    let mut line = house.payload(name, &["payload-flood", &file])?;
    let mut window = Window::open(house)?;
    window.until("the list", |lines| lines.iter().any(|line| line.contains("? keys")))?;
    // The session is found by its name, and stays in hand when all others are listed again.
    window.type_in(&format!("/{name}\r"))?;
    let marker = super::streams::DRAWN;
    window.until("the session in hand", |lines| lines.iter().any(|line| line.contains(marker)))?;
    window.type_in("\x1b")?;
    window.until("all others", |lines| !lines.iter().any(|line| line.contains(" 1 of ")))?;
    window.type_in("/")?;
    window.until("the filter", |lines| filter(lines) == Some(""))?;
    line.go()?;
    window.pass(Duration::from_millis(500))?;

    let span = if plan.divisor > 1 { Duration::from_secs(2) } else { Duration::from_secs(10) };
    let others = Others::watch(&plan.programs.mark());
    let (pid, began) = (window.terminal.pid(), Instant::now());
    let (cpu, pictures) = (proc::cpu_ns(pid), window.pictures);
    window.pass(span)?;
    let secs = began.elapsed().as_secs_f64();
    let cpus = proc::seconds(proc::cpu_ns(pid).saturating_sub(cpu)) / secs;
    let frames = (window.pictures - pictures) as f64 / secs;
    let around = others.cpus();
    let reading = |value: f64| Reading { value, others: around };
    let bare = reading(bare_emulator(load, size(), secs)?);

    let others = Others::watch(&plan.programs.mark());
    let mut times = Vec::new();
    for at in 0..plan.tries(500) {
        let gap = KEY_GAPS.get(at % KEY_GAPS.len()).copied().unwrap_or_default();
        window.pass(gap)?;
        let (key, shown) = if at % 2 == 0 { ("s", "s") } else { ("\x7f", "") };
        let began = Instant::now();
        window.type_in(key)?;
        window.until("a key", |lines| filter(lines) == Some(shown))?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    let key = Reading { value: late(times, 99), others: others.cpus() };

    let written = line.stop(WAIT)?;
    ensure!(written.mb_per_sec > 0.95 * FLOOD_MB_PER_SEC, "the flood was slow: {written:?}");
    // Who shows less than everything is fast: the last line is on the screen as soon as it is written.
    let ended = Instant::now();
    window.until("the end of the flood", |lines| lines.iter().any(|line| line.contains(END)))?;
    ensure!(ended.elapsed() < Duration::from_secs(1), "the picture is {:?} late", ended.elapsed());
    window.close()?;
    Ok(Flooded { frames: reading(frames), cpus: reading(cpus), bare, key })
}

/// The CPUs that the emulator alone needs for as much of the same bytes.
pub(super) fn bare_emulator(load: &Load, size: Size, secs: f64) -> Result<f64> {
    let bytes = std::fs::read(&load.file)?;
    let mut screen = Screen::new(size);
    let mut left = secs * FLOOD_MB_PER_SEC * 1e6;
    let before = own_secs();
    for piece in bytes.chunks(PIECE).cycle() {
        screen.feed(piece);
        left -= piece.len() as f64;
        if left <= 0.0 {
            break;
        }
    }
    Ok((own_secs() - before) / secs)
}

/// Seconds that this thread was on a CPU.
fn own_secs() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The time that so many of a hundred keep within.
pub(super) fn late(mut times: Vec<f64>, of_hundred: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    let at = (times.len() * of_hundred).div_ceil(100).saturating_sub(1);
    times.get(at).copied().unwrap_or(f64::NAN)
}

/// What is typed into the filter, if it is open.
fn filter(lines: &[String]) -> Option<&str> {
    let line = lines.iter().rev().nth(1)?.strip_prefix(" /")?;
    line.split("  ").next()
}

fn size() -> Size {
    Size { columns: SIZE.ws_col, rows: SIZE.ws_row }
}

/// The overview on a terminal that knows what it shows.
pub(crate) struct Window {
    terminal: Terminal,
    screen: Screen,
    answered: bool,
    /// How many pictures have come.
    pictures: usize,
}

impl Window {
    fn open(house: &House<'_>) -> Result<Self> {
        Ok(Self::on(house.overview()?, size()))
    }

    /// On this terminal, which has this size.
    pub(crate) fn on(terminal: Terminal, size: Size) -> Self {
        Self { terminal, screen: Screen::new(size), answered: false, pictures: 0 }
    }

    /// What is on it.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Takes it away, as a closed window does.
    pub(crate) fn close(self) -> Result<()> {
        self.terminal.hang_up()
    }

    /// Presses keys.
    pub(crate) fn type_in(&mut self, keys: &str) -> Result<()> {
        self.terminal.press(keys.as_bytes())
    }

    /// Takes in what comes until the screen is as wanted.
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&[String]) -> bool) -> Result<()> {
        let began = Instant::now();
        while !wanted(&self.screen.lines()) {
            let left = WAIT.saturating_sub(began.elapsed());
            let shown = self.screen.lines().join("\n");
            ensure!(!left.is_zero(), "{what} did not come:\n{shown}");
            self.take(left)?;
        }
        Ok(())
    }

    /// Takes in what comes for so long.
    pub(crate) fn pass(&mut self, span: Duration) -> Result<()> {
        let end = Instant::now() + span;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.take(left)?;
        }
    }

    fn take(&mut self, wait: Duration) -> Result<()> {
        let bytes = match self.terminal.look(wait)? {
            Seen::Bytes(bytes) => bytes,
            Seen::Nothing => return Ok(()),
            Seen::Ended => bail!("the overview ended"),
        };
        let holds =
            |part: &[u8]| bytes.windows(part.len()).filter(|window| *window == part).count();
        // A mark that is cut in two is missed: one of some thousand.
        self.pictures += holds(PICTURE);
        let asked = !self.answered && holds(QUESTION) > 0;
        self.screen.feed(bytes);
        if asked {
            self.answered = true;
            self.terminal.press(ANSWER)?;
        }
        Ok(())
    }
}
