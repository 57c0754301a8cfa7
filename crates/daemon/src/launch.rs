//! Starting a session's process: is everything there, and then the holder.

mod approach;

use crate::adapters::{Adapters, EnvNote, EnvOrigin};
use crate::durable::private_folder;
use crate::vault::{Vault, file_name};
use crate::{program, trees};
use approach::{Found, Transcript};
use glis_agent::{Agent, Approach, FileLocation, Hooks, LaunchPlan, Places, Relay, hooks};
use glis_core::MessageId;
use glis_core::refusal::ResumeFault;
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin};
use glis_core::talk::Leg;
use glis_core::tree;
use glis_screen::Output as _;
use glis_snapshot::git::MISLEADING;
use glis_wire::hold::{Birth, BirthFault, Face, Hello, Launch, MARK, MARK_GENERATION, Size};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Brings a terminal back to its main screen and its usual modes.
const USUAL_MODES: &str =
    "\x1b[?1049l\x1b[!p\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?2004l\x1b[0m";

/// The environment of whoever asked.
pub(crate) type Env = Vec<(String, String)>;

/// What a look before a start has shown.
pub(crate) struct Checked {
    /// How the worktree was found.
    pub(crate) found: Option<tree::Found>,
    /// Messages that the agent took and has never heard of.
    pub(crate) forgotten: Vec<String>,
    /// Messages in doubt that it has never heard of either.
    pub(crate) unheard: Vec<MessageId>,
}

/// Looks at everything that a start needs. A worktree that is gone comes back; what is there is not
/// touched.
pub(crate) fn check(adapters: &Adapters, session: &Session) -> Result<Checked, ResumeFault> {
    let worktree = PathBuf::from(session.worktree.as_deref().unwrap_or_default());
    if !session.spec.in_place && !Path::new(&session.spec.repo_root).is_dir() {
        let what = format!("its repository {} is not there", session.spec.repo_root);
        return Err(ResumeFault::System(format!("{what}; move it back to where it was")));
    }
    let found = trees::look(adapters, session)?;
    if !worktree.is_dir() {
        return Err(ResumeFault::NoDirectory(worktree.display().to_string()));
    }
    if !session.spec.in_place {
        let roots = glis_snapshot::git::roots(&worktree)
            .map_err(|fault| ResumeFault::WrongRoot(fault.to_string()))?;
        // Without a `.git` of its own, git would take it for a part of whatever lies around it.
        if roots.top.canonicalize().ok() != worktree.canonicalize().ok() {
            let what = format!("{} is no worktree any more", worktree.display());
            return Err(ResumeFault::WrongRoot(what));
        }
        if roots.main != Path::new(&session.spec.repo_root) {
            let (at, to) = (worktree.display(), roots.main.display());
            return Err(ResumeFault::WrongRoot(format!("{at} belongs to {to}")));
        }
    }
    let start = prepare(adapters, session)?;
    // Last: a start that fails has changed nothing.
    trees::reattach(session);
    if !start.tells_what_was_heard(session) {
        return Ok(Checked { found, forgotten: Vec::new(), unheard: Vec::new() });
    }
    let unheard = unheard(session, start.transcript.as_ref());
    let forgotten = if session.ran { forgotten(session, start) } else { Vec::new() };
    Ok(Checked { found, forgotten, unheard })
}

/// Whether a start would find its program and its transcript, and what is odd about them. Nothing is
/// done, and the worktree is not looked at.
pub(crate) fn can_start(
    adapters: &Adapters,
    session: &Session,
) -> Result<Vec<String>, ResumeFault> {
    Ok(prepare(adapters, session)?.warnings)
}

/// Where the conversation of an agent was looked for that has spoken, and has left nothing to resume by:
/// no transcript where it was started, and no copy.
pub(crate) fn lost_conversation(adapters: &Adapters, session: &Session) -> Option<String> {
    let (agent, id) = (agent_of(session).ok()?, session.agent_ref.as_deref()?);
    let is_kept = Vault::of(&adapters.home.session(&session.id.0), id).is_filled();
    // It writes down what it does when it has done it.
    if is_kept || !session.ran || session.turn.under_way() {
        return None;
    }
    let home = adapters.env_note(&session.id).agent_home;
    let places = places(adapters, session, home.as_deref());
    let said = approach::said(adapters, session);
    match approach::find(adapters, session, agent, &places, &said) {
        Err(ResumeFault::NoTranscript(place)) => Some(place),
        Ok(_) | Err(_) => None,
    }
}

/// Messages that a process took with it before its agent had written them down. Only the last one
/// can be missing where there is a transcript, and only if its turn did not end.
fn forgotten(session: &Session, start: Prepared) -> Vec<String> {
    let mut messages = start.messages;
    let Some(transcript) = &start.transcript else { return messages };
    let Some(last) = messages.pop().filter(|_| session.cut_off) else { return Vec::new() };
    let text = transcript.read().unwrap_or_default();
    if mentions(&text, &last) { Vec::new() } else { vec![last] }
}

/// Messages whose fate nobody knew, and which the agent cannot know either: its last process is gone,
/// and what it goes on with does not hold them. One that is there may be another with the same
/// words, so that stays a question.
fn unheard(session: &Session, transcript: Option<&Transcript>) -> Vec<MessageId> {
    let doubtful = session.queue.iter().filter(|message| message.leg == Leg::Doubtful);
    let mut doubtful = doubtful.peekable();
    if doubtful.peek().is_none() {
        return Vec::new();
    }
    let Some(transcript) = transcript else {
        return doubtful.map(|message| message.id).collect();
    };
    let Ok(text) = transcript.read() else { return Vec::new() };
    let lines = text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut known = String::new();
    lines.for_each(|line| gather(&line, &mut known));
    doubtful.filter(|message| !known.contains(&bare(&message.text))).map(|m| m.id).collect()
}

/// Adds every text in a piece of JSON.
fn gather(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(&bare(text)),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text without what may change on its way through a terminal.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether lines of JSON hold a text.
fn mentions(lines: &[u8], text: &str) -> bool {
    let quoted = Value::from(text).to_string();
    let inner = quoted.trim_matches('"').as_bytes();
    inner.is_empty() || lines.windows(inner.len()).any(|window| window == inner)
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

fn prepare(adapters: &Adapters, session: &Session) -> Result<Prepared, ResumeFault> {
    let agent = agent_of(session)?;
    let (env, origin) = adapters.env_for(session);
    let variable = |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, v)| v.clone());
    let home = agent.home(&variable);
    let mut places = places(adapters, session, home.as_deref());
    if let Some(path) = home.as_deref().and_then(|home| agent.settings(home)) {
        places.settings = std::fs::read_to_string(path).unwrap_or_default();
    }
    let said = approach::said(adapters, session);
    let Found { approach, transcript, vault, in_the_way, warning } =
        approach::find(adapters, session, agent, &places, &said)?;
    if approach == Approach::Resume {
        approach::check_alone(agent, session.agent_ref.as_deref(), &places)?;
    }
    let mut plan = agent.launch(session, approach, &places);
    let name = plan.program().to_owned();
    let cwd = Path::new(session.worktree.as_deref().unwrap_or_default());
    let found = program::native(agent, program::find(&name, &env, cwd)?);
    let odd_version = adapters.versions.judge(agent, &found, &env)?;
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

/// Folders for one session. An agent of ours is this very program, even if its file was removed or
/// moved meanwhile: whoever runs the command line is a process of it.
pub(crate) fn places(adapters: &Adapters, session: &Session, home: Option<&str>) -> Places {
    let mut places = adapters.places.clone();
    if !Path::new(&places.own_program).exists() {
        "/proc/self/exe".clone_into(&mut places.own_program);
    }
    home.unwrap_or_default().clone_into(&mut places.home);
    places.session = adapters.home.session(&session.id.0).to_string_lossy().into_owned();
    places
}

fn agent_of(session: &Session) -> Result<&'static dyn Agent, ResumeFault> {
    let name = &session.spec.agent;
    glis_agent::find(name).ok_or_else(|| ResumeFault::NotInstalled(format!("no agent {name:?}")))
}

/// Starts the holder and returns what it says about itself.
pub(crate) fn start(
    adapters: &Adapters,
    session: &Session,
    generation: u32,
) -> Result<Hello, ResumeFault> {
    let mut start = prepare(adapters, session)?;
    let system = |fault: std::io::Error| ResumeFault::System(fault.to_string());
    let dir = adapters.home.session(&session.id.0);
    private_folder(&dir).map_err(system)?;
    let locks = adapters.home.state.join("locks");
    private_folder(&locks).map_err(system)?;
    if let Some(path) = &start.in_the_way {
        move_aside(path).map_err(system)?;
    }
    let env = environment(std::mem::take(&mut start.env), &start.plan, session.spec.mode);
    bring_back(adapters, session, &start, &env)?;
    let note = EnvNote {
        names: env.iter().map(|(name, _)| name.clone()).collect(),
        origin: start.origin,
        agent_home: start.home,
        warnings: start.warnings,
    };
    // Before the process: whoever listens to it, also after a crash, has to find its transcript.
    adapters.note_env(&session.id, note);
    if start.plan.hooks == Hooks::File {
        mark_hooks(&dir, generation).map_err(system)?;
    }
    let launch = Launch {
        session: session.id.0.clone(),
        generation,
        env,
        argv: start.plan.argv,
        cwd: session.worktree.clone().unwrap_or_default(),
        face: match session.spec.mode {
            Mode::Terminal => Face::Terminal(last_size(&dir)),
            Mode::Headless => Face::Pipes,
        },
        dir: dir.to_string_lossy().into_owned(),
        ref_lock: session.agent_ref.as_deref().map(|id| {
            locks.join(lock_name(&session.spec.agent, id)).to_string_lossy().into_owned()
        }),
        log_bytes_max: adapters.config().output_bytes_max(),
        umask: adapters.umask,
        seam: (session.spec.mode == Mode::Terminal).then(|| seam(&dir)),
        first_words: start.plan.first_words,
        kept: crate::tend::kept(session),
        output_from: session.seen.stream,
        limits: adapters.limits_for(session),
    };
    let unborn = |why: String| match session.spec.mode {
        Mode::Terminal => ResumeFault::NoTerminal(why),
        Mode::Headless => ResumeFault::System(why),
    };
    match adapters.nursery.bear(&launch).map_err(|fault| unborn(fault.to_string()))? {
        Birth::Ready(hello) => Ok(hello),
        Birth::Failed { kind, message } => Err(match kind {
            BirthFault::Locked => ResumeFault::Locked(message),
            BirthFault::NoProgram => ResumeFault::NotInstalled(message),
            BirthFault::NoDirectory => ResumeFault::NoDirectory(message),
            BirthFault::System => unborn(message),
        }),
    }
}

/// Notes where the hooks of this start begin to tell. The process before it is gone.
fn mark_hooks(dir: &Path, generation: u32) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(dir.join(hooks::FILE))?;
    file.write_all(hooks::mark(generation).as_bytes())
}

/// Sees to it that the agent finds its conversation: a copy is put back where it looks, and what lies
/// in a database has a fresh copy first, of whatever changed while nobody listened.
fn bring_back(
    adapters: &Adapters,
    session: &Session,
    start: &Prepared,
    env: &Env,
) -> Result<(), ResumeFault> {
    let Some(id) = &session.agent_ref else { return Ok(()) };
    let home = start.home.as_deref().unwrap_or_default();
    let rows = agent_of(session)?.rows(id, &places(adapters, session, Some(home)));
    match (&start.vault, rows) {
        (Some(vault), Some(rows)) => approach::take_back(session, vault, &rows, &start.plan, env),
        (Some(vault), None) => {
            let was = adapters.env_note(&session.id).agent_home;
            vault.put_back(home, was.as_deref()).map(drop).map_err(|fault| {
                ResumeFault::NoTranscript(format!("{}: {fault}", vault.copy().display()))
            })
        }
        (None, Some(rows)) => {
            let vault = Vault::of(&adapters.home.session(&session.id.0), id);
            if let Err(fault) = vault.keep_rows(&rows) {
                crate::diary(&format!("session {}: copy of its transcript: {fault}", session.id));
            }
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// What the agent gets: the caller's variables and the agent's own. Left out are our marks, and what
/// git sets for its own children: inside a hook it names the caller's repository, and an agent's
/// commits would land there instead of in its worktree.
fn environment(caller: Env, plan: &LaunchPlan, mode: Mode) -> Env {
    let misleading = |key: &str| {
        let ours = [MARK, MARK_GENERATION].contains(&key);
        ours || MISLEADING.contains(&key) || plan.without.contains(&key)
    };
    let mut env: Env = caller
        .into_iter()
        .filter(|(key, _)| !misleading(key) && plan.env.iter().all(|(k, _)| k != key))
        .collect();
    let term = env.iter().position(|(key, _)| key == "TERM");
    let usable = term.and_then(|at| env.get(at)).is_some_and(|(_, v)| !v.is_empty() && v != "dumb");
    if mode == Mode::Terminal && !usable {
        env.retain(|(key, _)| key != "TERM");
        env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
    }
    env.extend(plan.env.iter().cloned());
    for secret in &plan.secrets {
        if env.iter().all(|(key, _)| key != secret) {
            env.push(((*secret).to_owned(), uuid::Uuid::new_v4().simple().to_string()));
        }
    }
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
    format!("{agent}-{}.lock", file_name(id))
}
