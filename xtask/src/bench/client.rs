//! What a person feels: how soon the screen is there, how soon a key comes back, how soon the
//! daemon serves.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Plan;
use super::board::{Board, Reading, median};
use super::house::{House, Peer};
use super::payload::KEYS;
use super::pty::{Seen, Terminal};
use super::streams::DRAWN;
use crate::proc::Others;

/// A key that has not come back by then is lost.
const KEY_WAIT: Duration = Duration::from_secs(1);

/// Between two keys, so that each is one of its own and not part of a burst.
const KEY_GAP: Duration = Duration::from_micros(1500);

/// Milliseconds from starting a client to the last cell of the first picture.
pub(crate) fn attach(plan: &Plan, board: &mut Board) {
    // Peers that do not know their screen have no first picture to wait for.
    let peers: Vec<Peer> = plan.peers.iter().copied().filter(|peer| peer.repaints()).collect();
    plan.interleave(&peers, board, "attach", |peer| {
        let mut house = House::open(peer, &plan.programs)?;
        let _line = house.payload("s", &["payload-echo"])?;
        house.settle(Duration::from_secs(10));
        let others = Others::watch(&plan.programs.mark());
        let mut times = Vec::new();
        for _ in 0..plan.tries(30) {
            let began = Instant::now();
            let mut terminal = house.attach("s")?;
            let painted = terminal.await_marker(DRAWN.as_bytes(), Duration::from_secs(5))?;
            times.push(began.elapsed().as_secs_f64() * 1000.0);
            terminal.await_quiet(Duration::from_millis(30), Duration::from_secs(2))?;
            terminal.hang_up()?;
            ensure!(painted, "the client painted nothing in 5 s");
        }
        Ok(Reading { value: median(times), others: others.cpus() })
    });
}

/// Microseconds from a key to its echo on the client's terminal.
pub(crate) fn echo(plan: &Plan, board: &mut Board) {
    plan.interleave(&plan.peers, board, "echo", |peer| {
        let mut house = House::open(peer, &plan.programs)?;
        let (_line, mut terminal) = house.attached("s", &["payload-echo"])?;
        let others = Others::watch(&plan.programs.mark());
        let mut times = Vec::new();
        for at in 0..plan.tries(500) {
            let key = KEYS.get(at % KEYS.len()).copied().unwrap_or(b'#');
            times.push(key_press(&mut terminal, key)?.as_secs_f64() * 1e6);
            std::thread::sleep(KEY_GAP);
        }
        terminal.hang_up()?;
        Ok(Reading { value: median(times), others: others.cpus() })
    });
}

fn key_press(terminal: &mut Terminal, key: u8) -> Result<Duration> {
    while matches!(terminal.look(Duration::ZERO)?, Seen::Bytes(_)) {}
    let began = Instant::now();
    terminal.press(&[key])?;
    loop {
        let left = KEY_WAIT.saturating_sub(began.elapsed());
        ensure!(!left.is_zero(), "a key was lost");
        match terminal.look(left)? {
            Seen::Bytes(bytes) if bytes.contains(&key) => return Ok(began.elapsed()),
            Seen::Bytes(_) | Seen::Nothing => {}
            Seen::Ended => anyhow::bail!("the client ended"),
        }
    }
}

/// Milliseconds from `daemon start` to a daemon that has answered, with a long past to read.
pub(crate) fn start(plan: &Plan, board: &mut Board) {
    let peers: Vec<Peer> = plan.peers.iter().copied().filter(|peer| *peer == Peer::Glis).collect();
    let events = plan.tries(1_000_000).to_string();
    plan.interleave(&peers, board, "start", |peer| {
        let house = House::open(peer, &plan.programs)?;
        house.verb(&["seed-log", &events])?;
        // A verb that fills the log may have woken the daemon.
        house.verb(&["daemon", "stop"]).ok();
        let others = Others::watch(&plan.programs.mark());
        let began = Instant::now();
        house.verb(&["daemon", "start"])?;
        // Started is who answers.
        house.verb(&["daemon", "status"])?;
        let value = began.elapsed().as_secs_f64() * 1000.0;
        let others = others.cpus();
        house.verb(&["daemon", "stop"])?;
        Ok(Reading { value, others })
    });
}
