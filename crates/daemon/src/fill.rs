//! A log as long as years of use would make it, for measuring how fast the daemon starts with it.

use crate::copies;
use crate::fault::DaemonFault;
use crate::log::{Aids, Backup, Checkpoint, EventLog, LogFault};
use glis_core::event::{Ending, Spot};
use glis_core::session::{Process, StartCause};
use glis_core::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use glis_core::{Event, House, MessageId, OpId, Recorded, SessionId};
use glis_record::durable;
use glis_wire::home::Home;

/// Sessions that the events are about.
const SESSIONS: u64 = 100;

/// Events that are written at a time, so that neither the memory nor the journal has all of them.
const PIECE: usize = 20_000;

/// Writes at least `count` events into a house that has no log yet: sessions that were made, had
/// their turns, and sleep now. Beside the log is what a daemon that has ended in order leaves there.
pub fn fill_log(home: &Home, count: u64) -> Result<(), DaemonFault> {
    if home.events().exists() {
        return Err(DaemonFault::Log("there is a log already, and it is left alone".to_owned()));
    }
    durable::private_folder(&home.state)?;
    let mut scribe = Scribe::new(home)?;
    let sessions: Vec<_> = (0..SESSIONS).map(|n| SessionId(format!("00000000-{n:04}"))).collect();
    for (n, session) in (0..).zip(&sessions) {
        scribe.record(session, born(n))?;
    }
    let turns = count.saturating_sub(SESSIONS * 8) / 7 + 1;
    for turn in 0..turns {
        if let Some(session) = sessions.get(usize::try_from(turn % SESSIONS).unwrap_or_default()) {
            scribe.record(session, a_turn(turn))?;
        }
    }
    for session in &sessions {
        let ended = Event::ProcessEnded {
            generation: 1,
            ending: Ending::Exited(0),
            ordered: true,
            left: Box::default(),
        };
        scribe.record(session, vec![ended, Event::Suspended { op: None }])?;
    }
    scribe.end(home)
}

/// Writes a log and its copies, piece by piece.
struct Scribe {
    log: EventLog,
    backup: Backup,
    house: House,
    piece: Vec<Recorded>,
}

impl Scribe {
    fn new(home: &Home) -> Result<Self, DaemonFault> {
        let log =
            EventLog::open(&home.events(), Aids::default()).map_err(|fault| told(&fault))?.log;
        let backup = Backup::open(&copies::folder(&home.state), log.id())?;
        Ok(Self { log, backup, house: House::default(), piece: Vec::new() })
    }

    fn record(&mut self, session: &SessionId, events: Vec<Event>) -> Result<(), DaemonFault> {
        for event in events {
            let seq = self.house.last_seq() + 1;
            let at = 1_700_000_000_000 + i64::try_from(seq).unwrap_or_default();
            self.piece.push(self.house.record(at, session.clone().into(), event, None));
        }
        if self.piece.len() >= PIECE { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), DaemonFault> {
        self.log.append(&self.piece).map_err(|fault| told(&fault))?;
        self.backup.append(&self.piece)?;
        self.piece.clear();
        Ok(())
    }

    fn end(mut self, home: &Home) -> Result<(), DaemonFault> {
        self.write()?;
        self.backup.complete()?;
        let checkpoint = Checkpoint { house: self.house, mark: self.log.end() };
        Ok(checkpoint.write(&copies::folder(&home.state))?)
    }
}

fn told(fault: &LogFault) -> DaemonFault {
    DaemonFault::Log(fault.to_string())
}

pub(crate) fn born(n: u64) -> Vec<Event> {
    let op = OpId(n);
    let traits =
        Traits { refs: RefOrigin::Chosen, signs: SignSource::Structured, takes: Takes::WhenIdle };
    let plain = Spec::plain("rehearsal", Mode::Headless, traits, "/nowhere");
    let spec = Spec { in_place: true, ..plain };
    let process = Process { pid: 1, start_ticks: 1, boot_id: "none".to_owned() };
    vec![
        Event::SessionCreated {
            op,
            name: format!("session-{n}"),
            spec: Box::new(spec),
            agent_ref: Some(format!("ref-{n}")),
        },
        Event::WorktreeMade {
            op,
            worktree: "/nowhere".to_owned(),
            branch: None,
            notes: Vec::new(),
        },
        Event::StartBegan { op, cause: StartCause::New, generation: 1 },
        Event::StartChecked { op, found: None, set_up: None },
        Event::ProcessStarted { op, process, began_at: 0 },
        Event::StartEnded { op, cause: StartCause::New },
    ]
}

/// A session that has just been started, for tests.
#[cfg(test)]
pub(crate) fn session() -> glis_core::Session {
    let id = SessionId("s".to_owned());
    let mut house = House::default();
    for (seq, event) in (1..).zip(born(1)) {
        house.apply(&Recorded::new(seq, 0, id.clone().into(), event));
    }
    house.session(&id).cloned().unwrap_or_else(|| unreachable!("it was born"))
}

fn a_turn(turn: u64) -> Vec<Event> {
    let (message, spot) = (MessageId(turn), Spot::Stream(turn * 100));
    let tool = format!("tool-{turn}");
    vec![
        Event::MessageQueued {
            first: false,
            message,
            text: "look at the parser and mend what is wrong".to_owned(),
        },
        Event::DeliveryBegan { message },
        Event::MessageTaken { message, spot: Some(spot) },
        Event::TurnBegan { spot },
        Event::ToolBegan { tool: tool.clone(), what: "run make".to_owned(), spot },
        Event::ToolEnded { tool, spot },
        Event::TurnEnded { spot, cut: false, limited: false, failed: None },
    ]
}
