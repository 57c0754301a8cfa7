//! What is measured, what it must reach, and what came out so far.

use std::collections::BTreeMap;

use super::house::Peer;

/// What a row must reach.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    /// At most so many times what the peer needs.
    AtMost { times: f64, of: Peer },
    /// At least so many times what the peer brings.
    AtLeast { times: f64, of: Peer },
    /// At most so much, whoever stands beside.
    Below(f64),
    /// At least so much, whoever stands beside.
    Above(f64),
    /// At most so much more than the peer needs.
    Within { more: f64, of: Peer },
}

/// One line of the table.
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) bar: Bar,
}

const fn row(key: &'static str, unit: &'static str, bar: Bar) -> Row {
    Row { key, unit, bar }
}

const QUARTER: Bar = Bar::AtMost { times: 0.25, of: Peer::Tmux };
const NO_SLOWER: Bar = Bar::AtLeast { times: 1.0, of: Peer::Tmux };

/// All rows in the order of the table; the word before the blank names the measure.
pub(crate) const ROWS: &[Row] = &[
    row("cpu_detached plain", "CPU ms/MB", QUARTER),
    row("cpu_detached colour", "CPU ms/MB", QUARTER),
    row("cpu_detached tui", "CPU ms/MB", QUARTER),
    row("attached plain", "MB/s", NO_SLOWER),
    row("attached colour", "MB/s", NO_SLOWER),
    row("attached tui", "MB/s", NO_SLOWER),
    row("mem200", "MB", Bar::AtMost { times: 1.5, of: Peer::Dtach }),
    row("mem10k", "MB/session", Bar::Below(0.3)),
    row("attach", "ms", Bar::AtMost { times: 1.0, of: Peer::Tmux }),
    row("echo", "µs", Bar::AtMost { times: 1.2, of: Peer::Tmux }),
    row("idle", "CPU ms/min", Bar::Below(20.0)),
    row("ls", "ms", Bar::Below(15.0)),
    row("start", "ms", Bar::Below(150.0)),
    row("tui open", "ms", Bar::Below(50.0)),
    row("tui frames", "frames/s", Bar::Above(60.0)),
    row("tui flood", "CPUs", Bar::Within { more: 0.3, of: Peer::Floor }),
    row("tui key", "ms", Bar::Below(16.0)),
    row("web event", "ms", Bar::Below(16.0)),
    row("web key", "ms", Bar::Below(50.0)),
    row("web frames", "frames/s", Bar::Above(30.0)),
    row("web flood", "CPUs", Bar::Within { more: 0.2, of: Peer::Floor }),
    row("web grown", "MB", Bar::Below(1.0)),
    row("web past", "ms", Bar::Below(100.0)),
    row("snapshot few", "ms", Bar::AtMost { times: 0.4, of: Peer::Git }),
    row("snapshot again", "of the first", Bar::Below(0.5)),
    row("snapshot many", "ms", Bar::AtMost { times: 0.5, of: Peer::Git }),
    row("snapshot large", "MB", Bar::Below(64.0)),
    row("restore", "ms", Bar::AtMost { times: 1.5, of: Peer::Git }),
    row("resume claude", "ms", Bar::Within { more: 150.0, of: Peer::Floor }),
    row("resume codex", "ms", Bar::Within { more: 150.0, of: Peer::Floor }),
];

/// One measurement, and how many CPUs were busy with other things meanwhile.
pub(crate) struct Reading {
    pub(crate) value: f64,
    pub(crate) others: f64,
}

/// All readings.
#[derive(Default)]
pub(crate) struct Board {
    readings: BTreeMap<(String, Peer), Vec<Reading>>,
    failures: BTreeMap<(String, Peer), String>,
}

impl Board {
    /// Writes a reading down, and says so, because a full run takes long.
    pub(crate) fn take(&mut self, key: &str, peer: Peer, reading: anyhow::Result<Reading>) {
        match reading {
            Ok(reading) => {
                println!(
                    "{key:<22} {:<6} {:>10.2}   others {:.2}",
                    peer.name(),
                    reading.value,
                    reading.others
                );
                self.readings.entry((key.to_owned(), peer)).or_default().push(reading);
            }
            Err(failure) => {
                println!("{key:<22} {:<6} not measured: {failure:#}", peer.name());
                self.failures.insert((key.to_owned(), peer), format!("{failure:#}"));
            }
        }
    }

    /// Whether a peer has failed in a row and never succeeded: another pass would only cost time.
    pub(crate) fn gave_up(&self, key: &str, peer: Peer) -> bool {
        let at = (key.to_owned(), peer);
        self.failures.contains_key(&at) && !self.readings.contains_key(&at)
    }

    /// The median of a peer's readings in a row.
    pub(crate) fn value(&self, key: &str, peer: Peer) -> Option<f64> {
        let readings = self.readings.get(&(key.to_owned(), peer))?;
        Some(median(readings.iter().map(|reading| reading.value).collect()))
    }

    /// CPUs busy with other things: for each peer the median of its readings, then the worst of the
    /// peers.
    pub(crate) fn others(&self, key: &str) -> Option<f64> {
        let of_row = self.readings.iter().filter(|((row, _), _)| row == key);
        let medians = of_row.map(|(_, taken)| median(taken.iter().map(|r| r.others).collect()));
        medians.reduce(f64::max)
    }

    /// Why a peer has no number in a row.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&str, Peer, &str)> {
        self.failures.iter().map(|((key, peer), why)| (key.as_str(), *peer, why.as_str()))
    }

    /// Whether a row was asked for at all.
    pub(crate) fn holds(&self, key: &str) -> bool {
        Peer::COLUMNS.iter().any(|peer| {
            let at = (key.to_owned(), *peer);
            self.readings.contains_key(&at) || self.failures.contains_key(&at)
        })
    }
}

/// The value in the middle; half the values are no larger.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

impl Row {
    /// How glis stands to the peer that the bar names, else to tmux.
    pub(crate) fn ratio(&self, board: &Board) -> Option<(f64, Peer)> {
        let of = match self.bar {
            Bar::AtMost { of, .. } | Bar::AtLeast { of, .. } | Bar::Within { of, .. } => of,
            Bar::Below(_) | Bar::Above(_) => Peer::Tmux,
        };
        let reference = board.value(self.key, of).filter(|value| *value > 0.0)?;
        Some((board.value(self.key, Peer::Glis)? / reference, of))
    }

    /// Whether the bar is met; unknown while a number is missing.
    pub(crate) fn met(&self, board: &Board) -> Option<bool> {
        let glis = board.value(self.key, Peer::Glis)?;
        match self.bar {
            Bar::AtMost { times, .. } => self.ratio(board).map(|(ratio, _)| ratio <= times),
            Bar::AtLeast { times, .. } => self.ratio(board).map(|(ratio, _)| ratio >= times),
            Bar::Below(limit) => Some(glis <= limit),
            Bar::Above(limit) => Some(glis >= limit),
            Bar::Within { more, of } => {
                board.value(self.key, of).map(|reference| glis <= reference + more)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, Peer, ROWS, Reading, median};

    #[test]
    fn a_bar_compares_medians() {
        let mut board = Board::default();
        for (peer, value) in
            [(Peer::Glis, 1.0), (Peer::Glis, 9.0), (Peer::Glis, 1.0), (Peer::Tmux, 4.0)]
        {
            board.take("cpu_detached plain", peer, Ok(Reading { value, others: 0.0 }));
        }
        let row = ROWS.first().unwrap();
        assert_eq!(row.met(&board), Some(true));
        assert_eq!(
            ROWS.get(1).unwrap().met(&board),
            None,
            "nothing measured is not met and not missed"
        );
    }

    #[test]
    fn a_bar_may_allow_so_much_more_than_a_peer() {
        let row = ROWS.iter().find(|row| row.key == "resume codex").unwrap();
        for (glis, met) in [(249.0, true), (251.0, false)] {
            let mut board = Board::default();
            board.take(row.key, Peer::Glis, Ok(Reading { value: glis, others: 0.0 }));
            assert_eq!(row.met(&board), None);
            board.take(row.key, Peer::Floor, Ok(Reading { value: 100.0, others: 0.0 }));
            assert_eq!(row.met(&board), Some(met), "{glis}");
        }
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0]) - 1.0).abs() < f64::EPSILON);
    }
}
