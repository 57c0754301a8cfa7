//! Much output: what it costs while nobody looks, and how fast it comes through to somebody who
//! does.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::Plan;
use super::board::{Board, Reading};
use super::house::{House, Peer};
use super::streams::{END, Load};
use crate::proc::{self, Others};

/// A peer that needs longer for one stream has lost anyway.
const STREAM_WAIT: Duration = Duration::from_secs(40);

/// CPU of all holder-side processes per megabyte that a session prints with no client there.
pub(crate) fn cpu_detached(plan: &Plan, board: &mut Board) {
    for Load { name, file, mb } in &plan.loads {
        let key = format!("cpu_detached {name}");
        plan.interleave(&plan.peers, board, &key, |peer| {
            let mut house = House::open(peer, &plan.programs)?;
            let mut line = house.payload("s", &["payload-cat", &file.display().to_string()])?;
            house.settle(Duration::from_secs(10));
            let others = Others::watch(&plan.programs.mark());
            let before = house.cpu_ns();
            line.go()?;
            line.done(STREAM_WAIT)?;
            house.settle(STREAM_WAIT);
            let used = house.cpu_ns().saturating_sub(before);
            ensure!(used > 0, "no process of {} was found", peer.name());
            Ok(Reading { value: proc::seconds(used) * 1000.0 / mb, others: others.cpus() })
        });
    }
}

/// Megabytes a second from the program's first write to the end marker in a client's terminal.
pub(crate) fn attached(plan: &Plan, board: &mut Board) {
    for Load { name, file, mb } in &plan.loads {
        let key = format!("attached {name}");
        plan.interleave(&plan.peers, board, &key, |peer| {
            let mut house = House::open(peer, &plan.programs)?;
            let words = ["payload-cat", &file.display().to_string()];
            let (mut line, mut terminal) = house.attached("s", &words)?;
            let others = Others::watch(&plan.programs.mark());
            let began = Instant::now();
            line.go()?;
            let came = terminal.await_marker(END.as_bytes(), STREAM_WAIT)?;
            let took = began.elapsed().as_secs_f64();
            let others = others.cpus();
            terminal.hang_up()?;
            ensure!(came, "the end did not come through");
            Ok(Reading { value: mb / took, others })
        });
    }
}

/// Memory that each session grows by when its program has printed ten thousand coloured lines.
pub(crate) fn mem10k(plan: &Plan, board: &mut Board) {
    let peers = plan.without(Peer::Floor);
    plan.interleave(&peers, board, "mem10k", |peer| {
        let mut house = House::open(peer, &plan.programs)?;
        let words = ["payload-cat", &plan.lines.display().to_string()];
        let count = plan.sessions(20);
        let mut lines = Vec::new();
        for at in 0..count {
            lines.push(house.payload(&format!("s{at}"), &words)?);
        }
        house.settle(Duration::from_secs(30));
        let others = Others::watch(&plan.programs.mark());
        let before = house.pss_mb();
        ensure!(before > 0.0, "no process of {} was found", peer.name());
        for line in &mut lines {
            line.go()?;
        }
        for line in &mut lines {
            line.done(STREAM_WAIT)?;
        }
        house.settle(STREAM_WAIT);
        let value = (house.pss_mb() - before) / count as f64;
        Ok(Reading { value, others: others.cpus() })
    });
}
