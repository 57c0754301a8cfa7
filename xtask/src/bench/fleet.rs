//! Many sessions that do nothing: what they weigh, what they burn, how soon they are listed.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::Plan;
use super::board::{Board, Reading, median};
use super::house::{House, Peer};
use crate::proc::{self, Others};

/// Idle sessions end by themselves after this many seconds, should the bench die and its sweeper
/// too.
const IDLE_SECS: &str = "1800";

/// Creating and settling wakes every process; an idle minute begins after it.
const SETTLE_WAIT: Duration = Duration::from_secs(60);

/// A screen is judged after five quiet seconds, and what follows is done then. Only after a longer
/// standstill nothing of the start is left to do.
const STANDSTILL: Duration = Duration::from_secs(7);

/// Memory of all holder-side processes of 200 sessions.
pub(crate) fn mem200(plan: &Plan, board: &mut Board) {
    plan.interleave(&plan.without(Peer::Floor), board, "mem200", |peer| {
        let others = Others::watch(&plan.programs.mark());
        let house = crew(plan, peer, plan.sessions(200))?;
        let value = house.pss_mb();
        ensure!(value > 0.0, "no process of {} was found", peer.name());
        Ok(Reading { value, others: others.cpus() })
    });
}

/// CPU of all holder-side processes of 100 idle sessions in a minute; all peers idle through the
/// same minute.
pub(crate) fn idle(plan: &Plan, board: &mut Board) {
    let mut houses = Vec::new();
    for peer in plan.without(Peer::Floor) {
        match crew(plan, peer, plan.sessions(100)) {
            Ok(house) => houses.push(house),
            Err(failure) => board.take("idle", peer, Err(failure)),
        }
    }
    for _ in 0..plan.passes {
        let others = Others::watch(&plan.programs.mark());
        let before: Vec<u64> = houses.iter().map(House::cpu_ns).collect();
        std::thread::sleep(plan.idle);
        let others = others.cpus();
        for (house, before) in houses.iter().zip(before) {
            let used = proc::seconds(house.cpu_ns().saturating_sub(before)) * 1000.0;
            let value = used * 60.0 / plan.idle.as_secs_f64();
            board.take("idle", house.peer, Ok(Reading { value, others }));
        }
    }
}

/// Milliseconds to list 100 sessions.
pub(crate) fn ls(plan: &Plan, board: &mut Board) {
    let listing = |peer: &Peer| matches!(peer, Peer::Glis | Peer::Tmux);
    let peers: Vec<Peer> = plan.peers.iter().copied().filter(listing).collect();
    let mut houses: Vec<(Peer, Result<House<'_>>)> =
        peers.iter().map(|peer| (*peer, crew(plan, *peer, plan.sessions(100)))).collect();
    for _ in 0..plan.passes {
        for (peer, house) in &mut houses {
            match house {
                Ok(house) => board.take("ls", *peer, list(plan, house)),
                Err(failure) => board.take("ls", *peer, Err(anyhow::anyhow!("{failure:#}"))),
            }
        }
    }
}

fn list(plan: &Plan, house: &House<'_>) -> Result<Reading> {
    let others = Others::watch(&plan.programs.mark());
    let mut times = Vec::new();
    for _ in 0..plan.tries(30) {
        let mut command = house.list().context("this peer has no list")?;
        let began = Instant::now();
        let status = command.status()?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        ensure!(status.success(), "the list failed: {status}");
    }
    Ok(Reading { value: median(times), others: others.cpus() })
}

/// A house with `count` sessions that sleep.
pub(super) fn crew(plan: &Plan, peer: Peer, count: usize) -> Result<House<'_>> {
    let mut house = House::open(peer, &plan.programs)?;
    let command = ["sleep".to_owned(), IDLE_SECS.to_owned()];
    for at in 0..count {
        house.session(&format!("s{at}"), &command)?;
    }
    house.settle_for(STANDSTILL, SETTLE_WAIT);
    // A peer whose sessions have ended is cheap, and would win.
    let alive = house.inmates();
    ensure!(alive >= count, "{alive} of {count} sessions are alive");
    Ok(house)
}
