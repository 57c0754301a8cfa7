//! Starting a session's process: is everything there, and then the holder.

use crate::adapters::Adapters;
use crate::{conversation, trees};
use glis_agent::{Agent, Approach, LaunchPlan, Places};
use glis_core::refusal::ResumeFault;
use glis_core::session::Session;
use glis_core::spec::Mode;
use glis_core::tree::Found;
use glis_snapshot::git::MISLEADING;
use glis_wire::hold::{Birth, BirthFault, Face, Hello, Launch, MARK, MARK_GENERATION, Size};
use glis_wire::view::Voice;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Brings a terminal back to its main screen and its usual modes.
const USUAL_MODES: &str =
    "\x1b[?1049l\x1b[!p\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?2004l\x1b[0m";

/// The environment of whoever asked.
pub(crate) type Env = Vec<(String, String)>;

/// Looks at everything that a start needs. A worktree that is gone comes back; what is there is not
/// touched.
pub(crate) fn check(adapters: &Adapters, session: &Session) -> Result<Option<Found>, ResumeFault> {
    let agent = agent_of(session)?;
    let worktree = PathBuf::from(session.worktree.as_deref().unwrap_or_default());
    let found = trees::look(adapters, session)?;
    if !worktree.is_dir() {
        return Err(ResumeFault::NoDirectory(worktree.display().to_string()));
    }
    if !session.spec.in_place {
        let root = glis_snapshot::git::main_root(&worktree)
            .map_err(|fault| ResumeFault::WrongRoot(fault.to_string()))?;
        if root != Path::new(&session.spec.repo_root) {
            return Err(ResumeFault::WrongRoot(root.display().to_string()));
        }
    }
    let (plan, _) = plan(adapters, session, agent)?;
    let env = adapters.env_for(session).0;
    program(&plan, &env, &worktree)?;
    Ok(found)
}

/// The command line for the next start. A session id whose transcript is gone is an error, unless
/// the agent never took a message under it: then there is nothing that could be missing.
fn plan(
    adapters: &Adapters,
    session: &Session,
    agent: &dyn Agent,
) -> Result<(LaunchPlan, Approach), ResumeFault> {
    let transcript =
        session.agent_ref.as_ref().and_then(|id| agent.transcript(id, &adapters.places));
    let approach = match &transcript {
        // Nothing to look at: what ran before under an id goes on under it.
        None if session.ran && session.agent_ref.is_some() => Approach::Resume,
        None => Approach::Fresh,
        Some(path) if Path::new(path).exists() => Approach::Resume,
        Some(path) => {
            if took_messages(adapters, session) {
                return Err(ResumeFault::NoTranscript(path.clone()));
            }
            Approach::Fresh
        }
    };
    Ok((agent.launch(session, approach, &places(adapters)), approach))
}

/// An agent of ours is this very program, even if its file was removed or moved meanwhile: whoever
/// runs the command line is a process of it.
fn places(adapters: &Adapters) -> Places {
    let mut places = adapters.places.clone();
    if !Path::new(&places.own_program).exists() {
        "/proc/self/exe".clone_into(&mut places.own_program);
    }
    places
}

fn took_messages(adapters: &Adapters, session: &Session) -> bool {
    let file = conversation::file_of(&adapters.home.session(&session.id.0));
    let current = session.agent_ref.as_deref();
    let mut took = false;
    let read = conversation::each(&file, |entry| {
        let of = entry.metadata.get("agent_session_ref").and_then(|id| id.as_str());
        took |= entry.voice == Voice::User && of == current;
    });
    // What cannot be read may have been anything.
    took || read.is_err()
}

fn agent_of(session: &Session) -> Result<&'static dyn Agent, ResumeFault> {
    let name = &session.spec.agent;
    glis_agent::find(name).ok_or_else(|| ResumeFault::NotInstalled(format!("no agent {name:?}")))
}

/// Finds the program the way a shell would, with the environment that it will have.
fn program(plan: &LaunchPlan, env: &Env, cwd: &Path) -> Result<PathBuf, ResumeFault> {
    let name = plan.argv.first().map(String::as_str).unwrap_or_default();
    let runs = |path: &Path| {
        path.metadata()
            .is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    let found = if name.contains('/') {
        Some(cwd.join(name)).filter(|path| runs(path))
    } else {
        let path =
            env.iter().find(|(key, _)| key == "PATH").map_or("", |(_, value)| value.as_str());
        path.split(':').map(|dir| Path::new(dir).join(name)).find(|path| runs(path))
    };
    found.ok_or_else(|| ResumeFault::NotInstalled(name.to_owned()))
}

/// Starts the holder and returns what it says about itself.
pub(crate) fn start(
    adapters: &Adapters,
    session: &Session,
    generation: u32,
) -> Result<Hello, ResumeFault> {
    let agent = agent_of(session)?;
    let (plan, _) = plan(adapters, session, agent)?;
    let dir = adapters.home.session(&session.id.0);
    private_folder(&dir).map_err(|fault| ResumeFault::System(fault.to_string()))?;
    let locks = adapters.home.state.join("locks");
    private_folder(&locks).map_err(|fault| ResumeFault::System(fault.to_string()))?;
    let (env, origin) = adapters.env_for(session);
    let env = environment(env, plan.env, session.spec.mode);
    let names = env.iter().map(|(name, _)| name.clone()).collect();
    let launch = Launch {
        session: session.id.0.clone(),
        generation,
        env,
        argv: plan.argv,
        cwd: session.worktree.clone().unwrap_or_default(),
        face: match session.spec.mode {
            Mode::Terminal => Face::Terminal(last_size(&dir)),
            Mode::Headless => Face::Pipes,
        },
        dir: dir.to_string_lossy().into_owned(),
        ref_lock: session.agent_ref.as_deref().map(|id| {
            locks.join(lock_name(&session.spec.agent, id)).to_string_lossy().into_owned()
        }),
        log_bytes_max: adapters.config.output_bytes_max(),
        umask: adapters.umask,
        seam: (session.spec.mode == Mode::Terminal).then(|| seam(&dir)),
    };
    match adapters.nursery.bear(&launch).map_err(|fault| ResumeFault::System(fault.to_string()))? {
        Birth::Ready(hello) => {
            adapters.note_env(&session.id, names, origin);
            Ok(hello)
        }
        Birth::Failed { kind, message } => Err(match kind {
            BirthFault::Locked => ResumeFault::Locked(message),
            BirthFault::NoProgram => ResumeFault::NotInstalled(message),
            BirthFault::NoDirectory => ResumeFault::NoDirectory(message),
            BirthFault::System => ResumeFault::System(message),
        }),
    }
}

/// What the agent gets: the caller's variables and the agent's own. Left out are our marks, and what
/// git sets for its own children: inside a hook it names the caller's repository, and an agent's
/// commits would land there instead of in its worktree.
fn environment(caller: Env, agent: Env, mode: Mode) -> Env {
    let misleading =
        |key: &str| [MARK, MARK_GENERATION].contains(&key) || MISLEADING.contains(&key);
    let mut env: Env = caller
        .into_iter()
        .filter(|(key, _)| !misleading(key) && agent.iter().all(|(k, _)| k != key))
        .collect();
    let term = env.iter().position(|(key, _)| key == "TERM");
    let usable = term.and_then(|at| env.get(at)).is_some_and(|(_, v)| !v.is_empty() && v != "dumb");
    if mode == Mode::Terminal && !usable {
        env.retain(|(key, _)| key != "TERM");
        env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
    }
    env.extend(agent);
    env
}

/// What is written between the screens of two runs: usual modes, and a fresh line below everything
/// that is to be seen, so that the former screen stays above.
fn seam(dir: &Path) -> String {
    match crate::screens::last_row(dir) {
        Some(row) => format!("{USUAL_MODES}\x1b[{row};1H\r\n"),
        None => format!("{USUAL_MODES}\x1b[999;1H\r\n"),
    }
}

fn last_size(dir: &Path) -> Size {
    crate::output::OutputLog::new(dir).sizes().last().map_or(Size::USUAL, |(_, size)| *size)
}

/// Ids come from outside: only what cannot lead out of the folder is kept.
pub(crate) fn lock_name(agent: &str, id: &str) -> String {
    let clean: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
        .take(128)
        .collect();
    format!("{agent}-{clean}.lock")
}

/// A folder that only we can look into.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
