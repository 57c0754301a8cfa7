//! Starting a session's process: is everything there, and then the holder.

mod approach;
mod heard;
mod surroundings;

use crate::common::Common;
use crate::environments::{Env, EnvNote, EnvOrigin};
use crate::nursery::Nursery;
use crate::program::{self, Versions};
use crate::sweep::{kept, sweep};
use crate::trees::Trees;
use crate::{check_list, holder, locks};
use approach::{Found, Transcript};
use glis_agent::{Agent, Approach, FileLocation, Hooks, LaunchPlan, Places, Relay, hooks};
use glis_core::input::Checked;
use glis_core::refusal::ResumeFault;
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin};
use glis_record::durable::private_folder;
use glis_record::vault::Vault;
use glis_wire::hold::{Birth, BirthFault, Face, Hello, Launch};
use glis_wire::home::Home;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surroundings::{environment, last_size, seam};
use tokio::runtime::Handle;
use tracing::warn;

pub(crate) struct Launcher {
    common: Arc<Common>,
    trees: Arc<Trees>,
    nursery: Nursery,
    versions: Versions,
    /// What agents need to know of this machine, the same for every session.
    agents: Places,
    runtime: Handle,
}

impl Launcher {
    /// Belongs to the runtime that this is called in.
    pub(crate) fn new(common: Arc<Common>, trees: Arc<Trees>) -> Arc<Self> {
        Arc::new(Self {
            agents: agents(&common.home),
            common,
            trees,
            nursery: Nursery::default(),
            versions: Versions::default(),
            runtime: Handle::current(),
        })
    }

    /// Looks at everything that a start needs. A worktree that is gone comes back; what is there is not
    /// touched.
    pub(crate) fn check(&self, session: &Session) -> Result<Checked, ResumeFault> {
        let worktree = PathBuf::from(session.place.worktree.as_deref().unwrap_or_default());
        if !session.spec.in_place && !Path::new(&session.spec.repo_root).is_dir() {
            let what = format!("its repository {} is missing", session.spec.repo_root);
            let branch = session.place.branch.as_deref().unwrap_or("BRANCH");
            return Err(ResumeFault::System(format!(
                "{what}; move it back to where it was, or begin from its branch where it is now: `glis \
                 new NAME --repo DIR --base {branch}`"
            )));
        }
        if session.spec.in_place && !worktree.is_dir() {
            return Err(ResumeFault::NoDirectory(worktree.display().to_string()));
        }
        let found = self.trees.look(session)?;
        if !worktree.is_dir() {
            return Err(ResumeFault::NoDirectory(worktree.display().to_string()));
        }
        if !session.spec.in_place {
            let roots = glis_snapshot::git::roots(&worktree)
                .map_err(|fault| ResumeFault::WrongRoot(fault.to_string()))?;
            // Without a `.git` of its own, git would take it for a part of whatever lies around it.
            if roots.top.canonicalize().ok() != worktree.canonicalize().ok() {
                let what = format!("{} is no longer a worktree", worktree.display());
                return Err(ResumeFault::WrongRoot(what));
            }
            if roots.main != Path::new(&session.spec.repo_root) {
                let (at, to) = (worktree.display(), roots.main.display());
                return Err(ResumeFault::WrongRoot(format!("{at} belongs to {to}")));
            }
        }
        let set_up = self.trees.set_up_again(session, &worktree);
        if glis_snapshot::is_over() {
            return Err(ResumeFault::System("it was called off".to_owned()));
        }
        let start = self.prepare(session)?;
        // Last: a start that fails has changed nothing.
        Trees::reattach(session);
        if !start.tells_what_was_heard(session) {
            return Ok(Checked { found, set_up, ..Checked::default() });
        }
        let Prepared { messages, transcript, .. } = start;
        let known = (agent_of(session)?, transcript.as_ref());
        let unheard = heard::unheard(session, known);
        let forgotten =
            if session.agent.ran { heard::forgotten(session, messages, known) } else { Vec::new() };
        Ok(Checked { found, set_up, forgotten, unheard })
    }

    /// Whether a start would find its program and its transcript, and what is odd about them. Nothing is
    /// done, and the worktree is not looked at.
    pub(crate) fn can_start(&self, session: &Session) -> Result<Vec<String>, ResumeFault> {
        Ok(self.prepare(session)?.warnings)
    }

    /// How the program that a start would find differs from what was tested.
    pub(crate) fn untested(&self, session: &Session) -> Option<String> {
        let agent = agent_of(session).ok()?;
        let (env, _) = self.common.environments.of_next_start(session);
        let places = self.places(session, None);
        let plan = agent.launch(session, Approach::Fresh, &places);
        let cwd = Path::new(session.place.worktree.as_deref().unwrap_or_default());
        let found = program::native(agent, program::find(plan.program(), &env, cwd).ok()?);
        self.versions.untested(agent, &found, &env)
    }

    /// Where the conversation of an agent was looked for that has spoken, and has left nothing to resume by:
    /// no transcript where it was started, and no copy.
    pub(crate) fn lost_conversation(&self, session: &Session) -> Option<String> {
        let (agent, id) = (agent_of(session).ok()?, session.agent.agent_ref.as_deref()?);
        let is_kept = Vault::of(&self.common.home.session(&session.id.0), id).is_filled();
        // It writes down what it does when it has done it.
        if is_kept || !session.agent.ran || session.turn().under_way() {
            return None;
        }
        let note = self.common.environments.noted(&session.id);
        let places = self.places(session, note.agent_home.as_deref());
        let said = approach::said(&self.common.home, session);
        match approach::find(&self.common.home, session, agent, &places, &said) {
            Err(ResumeFault::NoTranscript(place)) => Some(place),
            Ok(_) | Err(_) => None,
        }
    }

    /// Has a holder of this generation, by starting one or by finding it.
    pub(crate) fn begin(&self, session: &Session, generation: u32) -> Result<Hello, ResumeFault> {
        let dir = self.common.home.session(&session.id.0);
        if let Some(hello) = self.runtime.block_on(holder::living(&dir)) {
            let is_same = hello.generation == generation;
            if is_same && holder::is_in_conversation(&self.common.home, session, &hello) {
                return Ok(hello);
            }
            if hello.generation >= generation {
                // The log has lost its end. What runs there is not ours to judge.
                let why =
                    format!("process {} runs, but its start is not recorded", hello.process.pid);
                return Err(ResumeFault::Locked(why));
            }
        }
        holder::await_former(&dir);
        self.start(session, generation).or_else(|fault| {
            // One that was stopped while it was being born has the locks and says nothing.
            if !matches!(fault, ResumeFault::Locked(_)) && !locks::is_locked(&dir) {
                return Err(fault);
            }
            let evicted = holder::evict(&self.runtime, &self.common.home, session);
            if let Some(what) = &evicted {
                warn!("{what}");
            }
            // A leftover of a holder that was killed would be a second agent under one id.
            if !sweep(&dir, session).killed.is_empty() || evicted.is_some() {
                return self.start(session, generation);
            }
            Err(fault)
        })
    }

    /// Starts the holder and returns what it says about itself.
    fn start(&self, session: &Session, generation: u32) -> Result<Hello, ResumeFault> {
        let mut start = self.prepare(session)?;
        let system = |fault: std::io::Error| ResumeFault::System(fault.to_string());
        let dir = self.common.home.session(&session.id.0);
        private_folder(&dir).map_err(system)?;
        private_folder(&locks::folder(&self.common.home)).map_err(system)?;
        if let Some(path) = &start.in_the_way {
            move_aside(path).map_err(system)?;
        }
        let env = environment(std::mem::take(&mut start.env), &start.plan, session.spec.mode);
        self.bring_back(session, &start, &env)?;
        // Also what came between two iterations, while it was paused.
        start.warnings.extend(check_list::take_over(session, &dir));
        let note = EnvNote {
            names: env.iter().map(|(name, _)| name.clone()).collect(),
            origin: start.origin,
            agent_home: start.home,
            warnings: start.warnings,
        };
        // Before the process: its supervisor, also after a crash, has to find its transcript.
        self.common.environments.note(&session.id, note);
        if start.plan.hooks == Hooks::File {
            mark_hooks(&dir, generation).map_err(system)?;
        }
        let launch = Launch {
            session: session.id.0.clone(),
            generation,
            env,
            argv: start.plan.argv,
            cwd: session.place.worktree.clone().unwrap_or_default(),
            face: match session.spec.mode {
                Mode::Terminal => Face::Terminal(last_size(&dir)),
                Mode::Headless => Face::Pipes,
            },
            dir: dir.to_string_lossy().into_owned(),
            ref_lock: session.agent.agent_ref.as_deref().map(|id| {
                let lock = locks::of_ref(&self.common.home, &session.spec.agent, id);
                lock.to_string_lossy().into_owned()
            }),
            log_bytes_max: self.common.settings.now().output_bytes_max(),
            umask: self.common.umask,
            seam: (session.spec.mode == Mode::Terminal).then(|| seam(&dir)),
            first_words: start.plan.first_words,
            kept: kept(session),
            output_from: session.talk.seen.stream,
            limits: self.common.environments.limits(session),
        };
        let unborn = |why: String| match session.spec.mode {
            Mode::Terminal => ResumeFault::NoTerminal(why),
            Mode::Headless => ResumeFault::System(why),
        };
        match self.nursery.bear(&launch).map_err(|fault| unborn(fault.to_string()))? {
            Birth::Ready(hello) => Ok(hello),
            Birth::Failed { kind, message } => Err(match kind {
                BirthFault::Locked => ResumeFault::Locked(message),
                BirthFault::NoProgram => ResumeFault::NotInstalled(message),
                BirthFault::NoDirectory => ResumeFault::NoDirectory(message),
                BirthFault::System => unborn(message),
            }),
        }
    }

    fn prepare(&self, session: &Session) -> Result<Prepared, ResumeFault> {
        let agent = agent_of(session)?;
        let (env, origin) = self.common.environments.of_next_start(session);
        let variable = |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, v)| v.clone());
        let home = agent.home(&variable);
        let mut places = self.places(session, home.as_deref());
        if let Some(path) = home.as_deref().and_then(|home| agent.settings(home)) {
            places.settings = std::fs::read_to_string(path).unwrap_or_default();
        }
        let said = approach::said(&self.common.home, session);
        let Found { approach, transcript, vault, in_the_way, warning } =
            approach::find(&self.common.home, session, agent, &places, &said)?;
        if approach == Approach::Resume {
            approach::check_alone(agent, session.agent.agent_ref.as_deref(), &places)?;
        }
        let mut plan = agent.launch(session, approach, &places);
        let name = plan.program().to_owned();
        let cwd = Path::new(session.place.worktree.as_deref().unwrap_or_default());
        let found = program::native(agent, program::find(&name, &env, cwd)?);
        let odd_version = self.versions.judge(agent, &found, &env)?;
        let warnings = odd_version.into_iter().chain(warning).collect();
        if agent.versions().is_some() {
            plan.set_program(&found.to_string_lossy());
        }
        if let Some(relay) = plan.relay.take() {
            plan.argv = relayed(&places.own_program, &plan.argv, &relay);
        }
        let messages = said.messages;
        Ok(Prepared {
            plan,
            approach,
            env,
            origin,
            home,
            transcript,
            messages,
            vault,
            in_the_way,
            warnings,
        })
    }

    /// Sees to it that the agent finds its conversation: a copy is put back where it looks, and what lies
    /// in a database has a fresh copy first, of whatever changed while the daemon did not listen.
    fn bring_back(
        &self,
        session: &Session,
        start: &Prepared,
        env: &Env,
    ) -> Result<(), ResumeFault> {
        let Some(id) = &session.agent.agent_ref else { return Ok(()) };
        let home = start.home.as_deref().unwrap_or_default();
        let rows = agent_of(session)?.rows(id, &self.places(session, Some(home)));
        match (&start.vault, rows) {
            (Some(vault), Some(rows)) => {
                approach::take_back(session, vault, &rows, &start.plan, env)
            }
            (vault, None) => {
                let was = self.common.environments.noted(&session.id).agent_home.clone();
                let was = was.as_deref();
                let back =
                    vault.iter().map(|vault| (vault.copy(), vault.put_back(home, was).map(drop)));
                let parts = Vault::of(&self.common.home.session(&session.id.0), id).parts();
                let mended =
                    parts.iter().map(|part| (part.copy(), part.mend(home, was, move_aside)));
                back.chain(mended).try_for_each(|(copy, done)| {
                    done.map_err(|fault| {
                        ResumeFault::NoTranscript(format!("{}: {fault}", copy.display()))
                    })
                })
            }
            (None, Some(rows)) => {
                let vault = Vault::of(&self.common.home.session(&session.id.0), id);
                if let Err(fault) = vault.keep_rows(&rows) {
                    warn!("copy of its transcript: {fault}");
                }
                Ok(())
            }
        }
    }

    /// Folders for one session. An agent of ours is this very program, even if its file was removed or
    /// moved meanwhile: the command line runs it too.
    fn places(&self, session: &Session, home: Option<&str>) -> Places {
        let mut places = self.agents.clone();
        if !Path::new(&places.own_program).exists() {
            glis_os::process::OWN_PROGRAM.clone_into(&mut places.own_program);
        }
        home.unwrap_or_default().clone_into(&mut places.home);
        places.session = self.common.home.session(&session.id.0).to_string_lossy().into_owned();
        places
    }
}

/// What agents need to know of this machine.
pub(crate) fn agents(home: &Home) -> Places {
    let own_program = std::env::current_exe().unwrap_or_default();
    Places {
        own_program: own_program.to_string_lossy().into_owned(),
        rehearsal: home.state.join("rehearsal").to_string_lossy().into_owned(),
        ..Places::default()
    }
}

/// A start as it will be.
struct Prepared {
    plan: LaunchPlan,
    approach: Approach,
    env: Env,
    origin: EnvOrigin,
    home: Option<String>,
    transcript: Option<Transcript>,
    /// What was said to the agent under its present session id.
    messages: Vec<String>,
    /// Put back before the start.
    vault: Option<Vault>,
    /// Moved out of the way before the start.
    in_the_way: Option<PathBuf>,
    warnings: Vec<String>,
}

impl Prepared {
    /// Whether it can be found out what the agent has heard. One that goes on without a file that one
    /// could look into has what it was seen to take.
    fn tells_what_was_heard(&self, session: &Session) -> bool {
        let begins = self.approach == Approach::Fresh;
        session.spec.traits.refs != RefOrigin::None && (begins || self.transcript.is_some())
    }
}

/// The command line of a relay that starts the agent anew for each message.
fn relayed(own_program: &str, first: &[String], relay: &Relay) -> Vec<String> {
    let (folder, levels, ending) = match &relay.kept {
        FileLocation::At(path) => path
            .rsplit_once('/')
            .map_or((".", 0, path.as_str()), |(folder, name)| (folder, 0, name)),
        FileLocation::Below { folder, levels, ending } => {
            (folder.as_str(), *levels, ending.as_str())
        }
    };
    let course = serde_json::json!({
        "agent": relay.agent,
        "id": relay.id,
        "first": first,
        "later": relay.later,
        "folder": folder,
        "levels": levels,
        "ending": ending,
    });
    vec![own_program.to_owned(), "relay".to_owned(), course.to_string()]
}

/// Gives a file another name beside its own. Nothing is deleted.
fn move_aside(path: &Path) -> std::io::Result<()> {
    let names = (1..).map(|n: u32| path.with_extension(format!("jsonl.aside-{n}")));
    let free = names.into_iter().find(|name| !name.exists());
    std::fs::rename(path, free.unwrap_or_else(|| path.to_owned()))
}

fn agent_of(session: &Session) -> Result<&'static dyn Agent, ResumeFault> {
    let name = &session.spec.agent;
    glis_agent::find(name).ok_or_else(|| ResumeFault::NotInstalled(format!("no agent {name:?}")))
}

/// Notes where the hooks of this start begin to tell. The process before it is gone.
fn mark_hooks(dir: &Path, generation: u32) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(dir.join(hooks::FILE))?;
    file.write_all(hooks::mark(generation).as_bytes())
}
