//! The hands of the house: what carries out effects and reports back what came of them.

use crate::access::Accesses;
use crate::bounds::Bounds;
use crate::config::{Config, Settings};
use crate::controller::Line;
use crate::conversation::Digest;
use crate::launch::{self, Checked, Env};
use crate::nursery::Nursery;
use crate::outfit::SetUps;
use crate::program::Versions;
use crate::screens::Screens;
use crate::strikes::Strikes;
use crate::timers::Timers;
use crate::trees::Keeping;
use crate::work::{self, Kind};
use crate::{conversation, tend, worktrees};
use glis_agent::Places;
use glis_core::effect::{Effect, Urgency};
use glis_core::input::Outcome;
use glis_core::leftover::Leftovers;
use glis_core::pause::Captured;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Phase, Process, Session};
use glis_core::talk::Ask;
use glis_core::{Input, MessageId, OpId, SessionId};
use glis_wire::hold::{Children, Hello, Ladder, Limit, ProcessMark};
use glis_wire::home::Home;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

/// Errands that may wait for one holder. More than a few means that its connection is stuck.
const ERRANDS: usize = 64;

/// What is known about a session beside the log, and forgotten with the daemon.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    /// Terminals that follow its output.
    pub(crate) audience: u32,
    gap: Gap,
    env_note: Option<EnvNote>,
    env: Option<(Env, EnvOrigin)>,
    /// The limits that came with the environment.
    limits: Vec<Limit>,
    /// What had to be done to end its process.
    end_notes: Vec<String>,
    digest: Option<(u64, Digest)>,
}

/// Whether output is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Gap {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// Everything is there.
    None,
    /// It is, from this offset on.
    At(u64),
}

/// Name of the note about a session's environment, in its folder.
const ENV_NOTE: &str = "environment.json";

/// What a process was started with, without any value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct EnvNote {
    pub(crate) names: Vec<String>,
    pub(crate) origin: EnvOrigin,
    /// Where the agent keeps its transcripts, by that environment.
    #[serde(default)]
    pub(crate) agent_home: Option<String>,
    /// What somebody should know about the agent's program or its transcript.
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
}

/// Whose environment a process got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EnvOrigin {
    /// That of the command which started it.
    #[default]
    Caller,
    /// That of its former process, as the holder of that one remembered it: nobody commanded the
    /// start, and whoever commanded the last one did so before this daemon.
    Former,
    /// The daemon's own: nobody commanded the start, and no other is remembered.
    Daemon,
}

/// What a process gets from whoever commands its start.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) env: Env,
    pub(crate) limits: Vec<Limit>,
}

/// Something to tell a holder.
#[derive(Debug)]
pub(crate) enum Errand {
    Deliver { message: MessageId, text: String },
    Answer { ask: Ask, answer: String },
    Interrupt,
    Stop { ladder: Ladder, children: Children },
}

pub(crate) struct Adapters {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) line: Line,
    /// What is the same for every session.
    pub(crate) places: Places,
    pub(crate) versions: Versions,
    pub(crate) umask: u32,
    pub(crate) screens: Screens,
    pub(crate) nursery: Nursery,
    pub(crate) keeping: Keeping,
    pub(crate) set_ups: SetUps,
    pub(crate) accesses: Accesses,
    pub(crate) work: work::Places,
    pub(crate) strikes: Strikes,
    pub(crate) bounds: Bounds,
    pub(crate) timers: Timers,
    /// Grows whenever a conversation does.
    pub(crate) talk: watch::Sender<u64>,
    pub(crate) runtime: Handle,
    own_env: Env,
    live: Mutex<HashMap<SessionId, Live>>,
    holders: Mutex<HashMap<SessionId, mpsc::Sender<Errand>>>,
}

impl Adapters {
    pub(crate) fn new(
        home: Home,
        settings: Settings,
        strikes: Strikes,
        line: Line,
        umask: u32,
    ) -> Arc<Self> {
        let settings = Arc::new(settings);
        let own_program = std::env::current_exe().unwrap_or_default();
        Arc::new(Self {
            places: Places {
                own_program: own_program.to_string_lossy().into_owned(),
                rehearsal: home.state.join("rehearsal").to_string_lossy().into_owned(),
                ..Places::default()
            },
            versions: Versions::default(),
            screens: Screens::default(),
            nursery: Nursery::default(),
            keeping: Keeping::default(),
            set_ups: SetUps::default(),
            accesses: Accesses::default(),
            work: work::Places::default(),
            bounds: Bounds::default(),
            talk: watch::Sender::new(0),
            runtime: Handle::current(),
            own_env: own_environment(),
            live: Mutex::default(),
            holders: Mutex::default(),
            home,
            timers: Timers::new(line.clone(), Arc::clone(&settings)),
            settings,
            strikes,
            line,
            umask,
        })
    }

    /// What is configured at the moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.settings.now()
    }

    /// Sets an effect going. Never blocks: the controller is waiting.
    pub(crate) fn carry_out(self: &Arc<Self>, effect: Effect, session: &Session) {
        let id = session.id.clone();
        match effect {
            Effect::MakeWorktree { op } => self.make_worktree(session, op),
            Effect::CutSetUpShort => self.set_ups.cut_short(&id),
            Effect::CheckStart { op } => self.in_turn(
                session,
                (Kind::Tree, "look at its worktree"),
                move |why| Outcome::StartUnfit { op, fault: ResumeFault::System(why) },
                move |hands, session| {
                    Some(match launch::check(hands, session) {
                        Ok(Checked { found, forgotten, unheard }) => {
                            Outcome::StartChecked { op, found, forgotten, unheard }
                        }
                        Err(fault) => Outcome::StartUnfit { op, fault },
                    })
                },
            ),
            Effect::StartProcess { op, generation } => self.start(session, op, generation),
            Effect::Deliver { message, text, .. } => {
                if let Err(why) = self.errand(&id, Errand::Deliver { message, text }) {
                    self.report(id, Outcome::NotDelivered { message, why });
                }
            }
            Effect::GiveAnswer { ask, answer, .. } => {
                let asked = ask.id.clone();
                if let Err(why) = self.errand(&id, Errand::Answer { ask, answer }) {
                    self.report(id, Outcome::AnswerNotGiven { ask: asked, why });
                }
            }
            Effect::Interrupt { generation } => {
                if let Err(why) = self.errand(&id, Errand::Interrupt) {
                    self.report(id, Outcome::NotInterrupted { generation, why });
                }
            }
            Effect::StopProcess { generation, urgency } => self.stop(session, generation, urgency),
            Effect::CaptureTerminal { op } => self.capture(session, op),
            Effect::SetTimer { key, when } => self.timers.set(id.into(), key, when),
            Effect::CutShort { op } => self.bounds.cut_short(op),
            Effect::Sweep { op } => self.sweep(session, op),
            Effect::CheckSave { .. }
            | Effect::TakeSnapshot { .. }
            | Effect::SaveWorktree { .. }
            | Effect::ClearWorktree { .. }
            | Effect::RestoreWorktree { .. }
            | Effect::PutAside { .. }
            | Effect::BringBack { .. }
            | Effect::Empty { .. } => self.keep(effect, session),
        }
    }

    /// Makes a worktree. A set-up command may take minutes: that has places of its own.
    fn make_worktree(self: &Arc<Self>, session: &Session, op: OpId) {
        let failed = move |why| Outcome::WorktreeFailed { op, why };
        self.in_turn(session, (Kind::Make, "make its worktree"), failed, move |hands, session| {
            Some(worktrees::make(hands, session, op))
        });
    }

    fn capture(self: &Arc<Self>, session: &Session, op: OpId) {
        let failed = move |why| Outcome::CaptureFailed { op, what: Captured::Screen, why };
        self.blocking(session, (Kind::Start, "keep its screen"), failed, move |hands, session| {
            Some(match crate::screens::capture(hands, session) {
                Ok(screen_at) => Outcome::TerminalCaptured { op, screen_at },
                Err((what, fault)) => Outcome::CaptureFailed { op, what, why: fault.to_string() },
            })
        });
    }

    /// Does something beside everything else.
    pub(crate) fn later(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.runtime.spawn(work));
    }

    /// Lets time pass, in a thread that may block.
    pub(crate) fn wait_blocking(&self, time: Duration) {
        self.runtime.block_on(tokio::time::sleep(time));
    }

    pub(crate) fn report(&self, session: SessionId, outcome: Outcome) {
        let line = self.line.clone();
        drop(
            self.runtime.spawn(async move { line.tell(Input::Outcome { session, outcome }).await }),
        );
    }

    fn start(self: &Arc<Self>, session: &Session, op: OpId, generation: u32) {
        let failed = move |why| Outcome::ProcessNotStarted { op, fault: ResumeFault::System(why) };
        self.blocking(
            session,
            (Kind::Start, "start its process"),
            failed,
            move |hands, session| {
                match hands.begin(session, generation) {
                    Ok(hello) => {
                        // Open before anybody learns of the process: errands wait until it is met.
                        let errands = hands.open_errands(&session.id);
                        let started = Outcome::ProcessStarted {
                            op,
                            generation,
                            process: process_of(&hello.process),
                            began_at: hello.began_at,
                        };
                        hands.line.tell_blocking(Input::Outcome {
                            session: session.id.clone(),
                            outcome: started,
                        });
                        let runtime = hands.runtime.clone();
                        tend::begin(hands, Box::new(session.clone()), errands, &runtime);
                        None
                    }
                    Err(fault) => Some(Outcome::ProcessNotStarted { op, fault }),
                }
            },
        );
    }

    /// Has a holder of this generation, by starting one or by finding it.
    fn begin(&self, session: &Session, generation: u32) -> Result<Hello, ResumeFault> {
        let dir = self.home.session(&session.id.0);
        if let Some(hello) = self.runtime.block_on(tend::living(&dir)) {
            if hello.generation == generation && tend::is_in_conversation(self, session, &hello) {
                return Ok(hello);
            }
            if hello.generation >= generation {
                // The log has lost its end. Whoever runs there is not ours to judge.
                let why = format!("process {} runs, of a start not on record", hello.process.pid);
                return Err(ResumeFault::Locked(why));
            }
        }
        tend::await_former(&dir);
        launch::start(self, session, generation).or_else(|fault| {
            if !matches!(fault, ResumeFault::Locked(_)) {
                return Err(fault);
            }
            // A leftover of a holder that was killed would be a second agent under one id.
            let evicted = self.runtime.block_on(tend::evict(&dir));
            if evicted || !tend::sweep(self, session).killed.is_empty() {
                return launch::start(self, session, generation);
            }
            Err(fault)
        })
    }

    /// Looks for what an earlier process has left, and ends it.
    fn sweep(self: &Arc<Self>, session: &Session, op: OpId) {
        let failed = move |why| {
            let left = Leftovers { unclear: Some(why), ..Leftovers::default() };
            Outcome::Swept { op, left }
        };
        let kind = (Kind::Start, "end what it left");
        self.blocking(session, kind, failed, move |hands, session| {
            Some(Outcome::Swept { op, left: tend::sweep(hands, session) })
        });
    }

    fn stop(self: &Arc<Self>, session: &Session, generation: u32, urgency: Urgency) {
        let ms = |secs: u32| secs.saturating_mul(1000);
        let config = self.config();
        let pause = &config.pause;
        let ladder = match urgency {
            Urgency::Quiet => Ladder { interrupt_ms: 0, terminate_ms: ms(pause.terminate_secs) },
            Urgency::Interrupt => Ladder {
                interrupt_ms: ms(pause.interrupt_secs),
                terminate_ms: ms(pause.terminate_secs),
            },
            Urgency::Kill => Ladder { interrupt_ms: 0, terminate_ms: 0 },
        };
        let children = match &session.phase {
            Phase::Pausing(_) => pause.children,
            Phase::Starting(_)
            | Phase::Live
            | Phase::Stopping { .. }
            | Phase::Rest(_)
            | Phase::Chore { .. } => Children::StopAll,
        };
        let copy = || (Arc::clone(self), session.clone());
        if self.errand(&session.id, Errand::Stop { ladder, children }).is_err() {
            let (hands, session) = copy();
            self.later(tend::end_untended(hands, session, generation, ladder, children));
        }
        let (hands, session) = copy();
        self.later(tend::see_to_end(hands, session, generation, ladder, children));
    }

    fn errand(&self, id: &SessionId, errand: Errand) -> Result<(), String> {
        let sender = lock(&self.holders).get(id).cloned();
        let sender = sender.ok_or("its process is not reached")?;
        sender.try_send(errand).map_err(|fault| match fault {
            mpsc::error::TrySendError::Full(_) => "too much is under way already".to_owned(),
            mpsc::error::TrySendError::Closed(_) => "its process is gone".to_owned(),
        })
    }

    /// The way to the holder of `id`, for whoever tends it.
    pub(crate) fn open_errands(&self, id: &SessionId) -> mpsc::Receiver<Errand> {
        let (sender, receiver) = mpsc::channel(ERRANDS);
        lock(&self.holders).insert(id.clone(), sender);
        receiver
    }

    /// Forgets the way to a holder whose errands nobody runs any more. The way to the next one,
    /// which may be open already, stays.
    pub(crate) fn close_errands(&self, id: &SessionId) {
        lock(&self.holders).retain(|known, way| known != id || !way.is_closed());
    }

    pub(crate) fn live(&self, id: &SessionId) -> Live {
        lock(&self.live).get(id).cloned().unwrap_or_default()
    }

    pub(crate) fn change_live(&self, id: &SessionId, change: impl FnOnce(&mut Live)) {
        change(lock(&self.live).entry(id.clone()).or_default());
    }

    /// Remembers the environment of whoever asked, in memory only.
    pub(crate) fn remember_env(&self, id: &SessionId, caller: Caller) {
        self.change_live(id, |live| {
            live.env = Some((caller.env, EnvOrigin::Caller));
            live.limits = caller.limits;
        });
    }

    /// The limits for the next start; none means the daemon's own.
    pub(crate) fn limits_for(&self, session: &Session) -> Vec<Limit> {
        self.live(&session.id).limits
    }

    /// Notes what had to be done to end a process. The last word counts.
    pub(crate) fn note_end(&self, id: &SessionId, note: String) {
        self.change_live(id, |live| live.end_notes = vec![note]);
    }

    /// What had to be done to end a process, for whoever tells its end.
    pub(crate) fn take_end_notes(&self, id: &SessionId) -> Vec<String> {
        let mut notes = Vec::new();
        self.change_live(id, |live| notes = std::mem::take(&mut live.end_notes));
        notes
    }

    /// Notes what a process was started with: the names, never the values.
    pub(crate) fn note_env(&self, id: &SessionId, mut note: EnvNote) {
        note.names.sort();
        let dir = self.home.session(&id.0);
        let kept = serde_json::to_vec(&note)
            .map_err(std::io::Error::from)
            .and_then(|bytes| crate::durable::write(&dir, ENV_NOTE, &bytes));
        if let Err(fault) = kept {
            crate::diary(&format!("session {id}: the names of its variables: {fault}"));
        }
        self.change_live(id, |live| live.env_note = Some(note));
    }

    /// What the session's process was last started with, as far as it is known.
    pub(crate) fn env_note(&self, id: &SessionId) -> EnvNote {
        if let Some(note) = self.live(id).env_note {
            return note;
        }
        let read = std::fs::read(self.home.session(&id.0).join(ENV_NOTE)).ok();
        let note: EnvNote =
            read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        self.change_live(id, |live| live.env_note = Some(note.clone()));
        note
    }

    /// The environment for the next start, and whose it is.
    pub(crate) fn env_for(&self, session: &Session) -> (Env, EnvOrigin) {
        self.live(&session.id).env.unwrap_or_else(|| (self.own_env.clone(), EnvOrigin::Daemon))
    }

    /// Remembers what a holder has told of its agent's environment, unless somebody who commands
    /// was faster.
    pub(crate) fn learn_env(&self, id: &SessionId, env: Env, limits: Vec<Limit>) {
        self.change_live(id, |live| {
            if live.env.is_none() {
                live.env = Some((env, EnvOrigin::Former));
                live.limits = limits;
            }
        });
    }

    /// Notes that output is missing from this offset on.
    pub(crate) fn note_gap(&self, id: &SessionId, at: u64) {
        self.change_live(id, |live| live.gap = Gap::At(at));
    }

    /// From where on output is missing, if any is: as the holder has told, or as what lies on disk
    /// tells a daemon that was not there.
    pub(crate) fn gap_at(&self, id: &SessionId) -> Option<u64> {
        match self.live(id).gap {
            Gap::At(at) => return Some(at),
            Gap::None => return None,
            Gap::Unknown => {}
        }
        let dir = self.home.session(&id.0);
        let found = crate::output::OutputLog::new(&dir).gap(tend::recorded_end(&dir));
        // A holder that has told of one meanwhile knows better; whoever asks next hears it.
        self.change_live(id, |live| {
            if live.gap == Gap::Unknown {
                live.gap = found.map_or(Gap::None, Gap::At);
            }
        });
        found
    }

    /// What the conversation comes down to; read again only when it has grown.
    pub(crate) fn digest(&self, id: &SessionId) -> Digest {
        let path = conversation::file_of(&self.home.session(&id.0));
        let len = path.metadata().map_or(0, |facts| facts.len());
        if len == 0 {
            return Digest::default();
        }
        if let Some((known, digest)) = self.live(id).digest
            && known == len
        {
            return digest;
        }
        let mut digest = Digest::of(&path);
        // A long turn may have pushed the last account out of what is looked at.
        let former = self.live(id).digest.and_then(|(_, former)| former.account);
        digest.account = digest.account.or(former).or_else(|| conversation::account(&path));
        self.change_live(id, |live| live.digest = Some((len, digest.clone())));
        digest
    }
}

/// What the daemon itself was started with, less what was meant for it alone.
fn own_environment() -> Env {
    std::env::vars_os()
        .filter(|(name, _)| name != "MALLOC_ARENA_MAX")
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

pub(crate) fn process_of(mark: &ProcessMark) -> Process {
    Process { pid: mark.pid, start_ticks: mark.start_ticks, boot_id: mark.boot_id.clone() }
}

/// A lock whose data stays usable after a panic: each is a table whose entries stand alone.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
