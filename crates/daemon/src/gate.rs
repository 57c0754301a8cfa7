//! What the gate has stopped, in a file beside the log: written whole or not at all, read again when it
//! is opened.

use crate::mailbox::Mailbox;
use crate::panics::held;
use crate::pools::{Kind, Pools};
use crate::tasks::beside_on;
use crate::view::time;
use glis_core::gate::{GateSource, Shut};
use glis_core::plan::{Plan, RunState, TaskSpec};
use glis_core::{House, Input, OpId, Session, SessionId};
use glis_record::durable;
use glis_wire::home::Home;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;
use tracing::warn;

/// Its name in the state folder.
const FILE: &str = "gate.json";
/// The form that is written. Another one is not understood.
const SCHEMA: u32 = 1;
/// A session takes some hundred bytes; more than this is no list of sessions.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The file's content: what was paused, and what waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateFile {
    pub(crate) schema_version: u32,
    pub(crate) log_id: String,
    /// The number of the operation that shut the gate.
    pub(crate) gate: u64,
    pub(crate) paused_at: String,
    /// Why: `user` or `shutdown`.
    pub(crate) reason: glis_core::pause::PauseReason,
    /// What comes back when it is opened.
    pub(crate) active_agents: Vec<AgentState>,
    pub(crate) pending_tasks: Vec<TaskState>,
    /// Tasks of plans under way that are not done. A file of an older build has none.
    #[serde(default)]
    pub(crate) plan_tasks: Vec<PlanTask>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanTask {
    /// The plan's branch, which names it.
    pub(crate) plan: String,
    pub(crate) task: String,
    /// How its latest run is; none if it has not begun.
    pub(crate) state: Option<RunState>,
}

/// One session that was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentState {
    pub(crate) session: String,
    pub(crate) name: String,
    pub(crate) agent: String,
    /// The start of its process that was stopped.
    pub(crate) generation: u32,
    pub(crate) context: Context,
    pub(crate) memory: Memory,
    /// Everything that it asked when it was stopped.
    pub(crate) pending_tool_calls: Vec<String>,
    pub(crate) cut_off: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    pub(crate) worktree: Option<String>,
    pub(crate) branch: Option<String>,
    /// The snapshot of the worktree as it was left.
    pub(crate) snapshot: Option<String>,
}

/// By what it knows what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Memory {
    /// The agent's own name for its conversation.
    pub(crate) agent_session_ref: Option<String>,
    /// How far its transcript is accounted for.
    pub(crate) transcript: u64,
    /// How far its output is.
    pub(crate) output: u64,
}

/// What waits in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskState {
    pub(crate) session: String,
    /// Messages that were not handed over yet.
    pub(crate) messages: usize,
    /// Its process is started as soon as that may be.
    pub(crate) starts: bool,
}

impl GateFile {
    /// What is written down of a house whose gate is shut.
    fn of(house: &House, shut: &Shut, log_id: String) -> Self {
        let stopped = house.all_sessions().filter(|session| shut.set.contains(&session.id));
        let waits = |session: &&Session| {
            !session.talk.queue.is_empty() || session.starts.deferred.is_some()
        };
        Self {
            schema_version: SCHEMA,
            log_id,
            gate: shut.op.0,
            paused_at: time(shut.since),
            reason: shut.wish.reason,
            active_agents: stopped.map(AgentState::of).collect(),
            pending_tasks: house.sessions().filter(waits).map(TaskState::of).collect(),
            plan_tasks: house.plans().flat_map(|plan| PlanTask::of(house, plan)).collect(),
        }
    }

    /// The sessions that come back.
    pub(crate) fn set(&self) -> Vec<SessionId> {
        self.active_agents.iter().map(|agent| SessionId(agent.session.clone())).collect()
    }

    /// What keeps it from being what was written down for this gate.
    pub(crate) fn fault(&self, shut: &Shut) -> Option<String> {
        if self.schema_version != SCHEMA {
            return Some(format!(
                "it has form {}, and this build knows {SCHEMA}",
                self.schema_version
            ));
        }
        if self.gate != shut.op.0 {
            return Some(format!(
                "it is of pause {}, and the last one is {}",
                self.gate, shut.op.0
            ));
        }
        let listed = self.set();
        // Whom a person has taken out since may still be in it; none that was stopped may be missing.
        let missing = shut.set.iter().find(|id| !listed.contains(id))?;
        Some(format!("session {missing} was stopped and is not in it"))
    }
}

impl AgentState {
    fn of(session: &Session) -> Self {
        let asked = session.talk.was_asking.iter();
        Self {
            session: session.id.0.clone(),
            name: session.name.clone(),
            agent: session.spec.agent.clone(),
            generation: session.agent.generation,
            context: Context {
                worktree: session.place.worktree.clone(),
                branch: session.place.branch.clone(),
                snapshot: session.saved.baseline.as_ref().map(|snapshot| snapshot.name.clone()),
            },
            memory: Memory {
                agent_session_ref: session.agent.agent_ref.clone(),
                transcript: session.talk.seen.transcript,
                output: session.talk.seen.stream,
            },
            pending_tool_calls: asked.map(|ask| ask.text.clone()).collect(),
            cut_off: session.talk.cut_off,
        }
    }
}

impl PlanTask {
    fn of<'h>(house: &'h House, plan: &'h Plan) -> impl Iterator<Item = Self> + 'h {
        let state = |task: &str| {
            let run = plan.latest_run(task)?;
            Some(run.state(run.session.as_ref().and_then(|id| house.session(id))))
        };
        let open = move |task: &TaskSpec| {
            let (plan, state) = (plan.spec.branch.clone(), state(&task.id));
            let is_open = !matches!(state, Some(RunState::Succeeded | RunState::Canceled));
            is_open.then(|| Self { plan, task: task.id.clone(), state })
        };
        plan.spec.tasks.iter().filter_map(open)
    }
}

impl TaskState {
    fn of(session: &Session) -> Self {
        let starts = session.starts.deferred.is_some();
        Self { session: session.id.0.clone(), messages: session.talk.queue.len(), starts }
    }
}

/// What was found of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    Kept(Box<GateFile>),
    Missing,
    Damaged(String),
}

/// The file, and what is to become of it.
pub(crate) struct GateStore {
    home: Home,
    pools: Pools,
    mailbox: Mailbox,
    /// The controller, which asks for this, is a thread without a runtime of its own.
    runtime: Handle,
    /// What was asked for last; whatever was asked for before it is void.
    wanted: Mutex<Option<Wanted>>,
    /// Held while the file is written or moved.
    writing: Mutex<()>,
}

enum Wanted {
    Keep(OpId, GateFile),
    Drop(OpId, GateSource),
}

impl GateStore {
    /// It belongs to the runtime that this is called in.
    pub(crate) fn new(home: Home, pools: Pools, mailbox: Mailbox) -> Arc<Self> {
        let (wanted, writing) = (Mutex::default(), Mutex::default());
        Arc::new(Self { home, pools, mailbox, runtime: Handle::current(), wanted, writing })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.home.state.join(FILE)
    }

    /// Writes down what the gate has stopped, and tells the controller what came of it.
    pub(crate) fn keep(self: &Arc<Self>, house: &House, op: OpId) {
        if let Some(shut) = house.gate().shut() {
            let file = GateFile::of(house, shut, self.mailbox.log_id());
            self.want(Wanted::Keep(op, file));
        }
    }

    /// Takes the file of a gate before this operation away. One that cannot be read is kept aside.
    pub(crate) fn discard(self: &Arc<Self>, before: OpId, source: GateSource) {
        self.want(Wanted::Drop(before, source));
    }

    fn want(self: &Arc<Self>, wanted: Wanted) {
        *held(&self.wanted) = Some(wanted);
        let store = Arc::clone(self);
        beside_on(&self.runtime, async move {
            let (own, pools) = (Arc::clone(&store), store.pools.clone());
            let done = pools.run_blocking(Kind::Ask, move || own.carry_out()).await;
            if let Ok(Some((op, result))) = done {
                store
                    .mailbox
                    .tell(Input::GateKept { op, result: result.map_err(Into::into) })
                    .await;
            }
        });
    }

    /// Does what was asked for last, unless that is done.
    fn carry_out(&self) -> Option<(OpId, Result<(), String>)> {
        let _writing = held(&self.writing);
        let wanted = held(&self.wanted).take()?;
        match wanted {
            Wanted::Keep(op, file) => {
                let kept = self.save(&file).map_err(|fault| fault.to_string());
                crate::failpoint::reach("gate", "kept");
                Some((op, kept))
            }
            Wanted::Drop(before, source) => {
                if let Err(fault) = self.remove(before, source) {
                    warn!("{}: {fault}", self.path().display());
                }
                None
            }
        }
    }

    /// Writes the file beside its place, syncs it, and moves it there.
    fn save(&self, file: &GateFile) -> io::Result<()> {
        if let Loaded::Damaged(why) = self.load() {
            self.put_aside(&why)?;
        }
        let mut text = serde_json::to_string_pretty(file).map_err(io::Error::other)?;
        text.push('\n');
        durable::write(&self.home.state, FILE, text.as_bytes())
    }

    fn remove(&self, before: OpId, source: GateSource) -> io::Result<()> {
        match self.load() {
            Loaded::Missing => Ok(()),
            Loaded::Kept(_) if source == GateSource::Log => {
                self.put_aside("the log was asked instead")
            }
            Loaded::Damaged(why) => self.put_aside(&why),
            Loaded::Kept(file) if file.gate < before.0 => {
                std::fs::remove_file(self.path())?;
                durable::sync_names(&self.home.state)
            }
            // The log has lost its end; the file may be all that tells of it.
            Loaded::Kept(file) => {
                self.put_aside(&format!("the log does not know pause {}", file.gate))
            }
        }
    }

    /// Nothing that was written down is deleted because it cannot be understood.
    fn put_aside(&self, why: &str) -> io::Result<()> {
        let now = crate::clock::now().as_millisecond();
        // Two in one moment must not take each other's place.
        let free = |name: &String| self.home.state.join(name).symlink_metadata().is_err();
        let mut names = (0..).map(|n: i64| format!("{FILE}.kept-{}", now.saturating_add(n)));
        let aside = names.find(free).unwrap_or_else(|| format!("{FILE}.kept"));
        warn!("{}: {why}; it is kept as {aside}", self.path().display());
        std::fs::rename(self.path(), self.home.state.join(aside))?;
        durable::sync_names(&self.home.state)
    }

    pub(crate) fn load(&self) -> Loaded {
        let facts = match self.path().symlink_metadata() {
            Ok(facts) => facts,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Loaded::Missing,
            Err(fault) => return Loaded::Damaged(fault.to_string()),
        };
        if !facts.is_file() || facts.len() > BYTES_MAX {
            return Loaded::Damaged("it is not a file of ours".to_owned());
        }
        let read = durable::read_file(&self.path()).map_err(|fault| fault.to_string());
        let parsed = read
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|fault| fault.to_string()));
        parsed.map_or_else(Loaded::Damaged, |file| Loaded::Kept(Box::new(file)))
    }
}

#[cfg(test)]
mod tests;
