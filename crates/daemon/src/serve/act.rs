//! Requests that change something: translated into commands, waited for until they are true.

use super::{Door, fate, find, keep, seen};
use crate::controller::{Look, Published};
use crate::launch::Env;
use crate::peer::Peer;
use crate::view;
use glis_core::house::Reply;
use glis_core::pause::PauseReason;
use glis_core::session::{Phase, Rest};
use glis_core::spec::{Mode, RefOrigin, Spec};
use glis_core::tree::Clearing;
use glis_core::{AskId, Command, OpId, Refusal, Session, SessionId};
use glis_snapshot::GitFault;
use glis_wire::client::{Action, Answer, NewSession, Trouble};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::broadcast;

/// Idle time after which a session may be suspended, unless it says otherwise.
const IDLE_TIMEOUT_SECS: u64 = 600;
/// Events read at once while looking for one.
const EVENTS_READ: u32 = 500;

/// Makes a session.
pub(super) async fn new(
    door: &Door,
    peer: &mut Peer,
    wanted: NewSession,
    env: Option<Env>,
) -> io::Result<Answer> {
    match create(door, wanted).await {
        Ok(command) => carry_out(door, peer, command, env).await,
        Err(answer) => Ok(*answer),
    }
}

/// Does something with a session.
pub(super) async fn act(
    door: &Door,
    peer: &mut Peer,
    given: &str,
    action: Action,
    env: Option<Env>,
) -> io::Result<Answer> {
    match translate(door, given, action).await {
        Ok(command) => carry_out(door, peer, command, env).await,
        Err(answer) => Ok(*answer),
    }
}

pub(super) async fn carry_out(
    door: &Door,
    peer: &mut Peer,
    (id, command): (SessionId, Command),
    env: Option<Env>,
) -> io::Result<Answer> {
    // Listening begins before anything is asked for, so that its end cannot be missed.
    let mut news = door.hands.line.news.subscribe();
    let found = look(door, &id).await;
    if let Some(env) = env
        && may_begin_start(&command, found.as_ref())
    {
        door.hands.remember_env(&id, env);
    }
    let question = fate::question_of(found.as_ref(), &command);
    let reply = match door.hands.line.command(command).await {
        Some(Ok(reply)) => reply,
        Some(Err(refusal)) => return Ok(Answer::Refused(refusal)),
        None => return Ok(storage()),
    };
    match reply {
        Reply::Done => {
            if let (Some(session), Some(ask)) = (&found, question)
                && let Err(refusal) = fate::until_heard(&mut news, session, &ask).await
            {
                return Ok(Answer::Refused(refusal));
            }
            done(door, &id, Change::Made).await
        }
        Reply::Already => done(door, &id, Change::Needless).await,
        Reply::Queued { message, before, status } => {
            let session = fate::until_woken(door, &mut news, &id).await;
            let Some(session) = session else { return Ok(storage()) };
            let session = Box::new(seen(door, &session));
            let idle_secs = found.as_ref().and_then(idle_secs);
            Ok(Answer::Queued { session, message: message.0, before, status, idle_secs })
        }
        Reply::Pending(op) => match until_ended(door, peer, &mut news, &id, op).await? {
            Ok(()) => done(door, &id, Change::Made).await,
            Err(refusal) => Ok(Answer::Refused(refusal)),
        },
    }
}

/// Whether a start can follow from this. Whoever comes while a process runs, or while one is on its
/// way in somebody else's environment, has no say in it.
fn may_begin_start(command: &Command, session: Option<&Session>) -> bool {
    let Some(session) = session else { return true };
    match &session.phase {
        Phase::Live | Phase::Starting(_) | Phase::Pausing(_) | Phase::Chore { .. } => false,
        Phase::Stopping { .. } => true,
        Phase::Rest(rest) => {
            let woken_by_message = matches!(rest, Rest::Suspended | Rest::Created);
            woken_by_message || !matches!(command, Command::Send { .. })
        }
    }
}

/// How long nothing has happened in a session.
fn idle_secs(session: &Session) -> Option<u64> {
    let now = crate::clock::now().as_millisecond();
    u64::try_from((now - session.last_active_at) / 1000).ok()
}

fn storage() -> Answer {
    Answer::Trouble {
        kind: Trouble::Storage,
        message: "the event log cannot be written; agents run on, nothing was changed".to_owned(),
    }
}

pub(super) async fn look(door: &Door, id: &SessionId) -> Option<Session> {
    door.hands.line.look(Look::One(id.0.clone())).await.into_iter().next()
}

/// Whether a request has changed anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Made,
    /// It was so already.
    Needless,
}

async fn done(door: &Door, id: &SessionId, change: Change) -> io::Result<Answer> {
    let already = change == Change::Needless;
    Ok(match look(door, id).await {
        Some(session) => Answer::Done { session: Box::new(seen(door, &session)), already },
        None => storage(),
    })
}

/// Waits for the end of an operation and passes its steps on.
async fn until_ended(
    door: &Door,
    peer: &mut Peer,
    news: &mut broadcast::Receiver<Arc<Published>>,
    id: &SessionId,
    op: OpId,
) -> io::Result<Result<(), Refusal>> {
    let mut seen_to = 0;
    loop {
        let published = tokio::select! {
            published = news.recv() => published,
            () = peer.gone() => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        match published {
            Ok(published) => {
                seen_to = published.recorded.seq;
                if published.recorded.session != *id {
                    continue;
                }
                if let Some((ended, result)) = &published.ended
                    && *ended == op
                {
                    return Ok(result.clone());
                }
                peer.send(&Answer::Step(view::event(&published.recorded))).await?;
            }
            // Left behind: how it ended may be among what was missed.
            Err(broadcast::error::RecvError::Lagged(_)) => {
                let session = look(door, id).await;
                let operation = session.as_ref().and_then(Session::operation);
                if operation.is_none_or(|(under_way, _)| under_way != op) {
                    let Some(session) = session else {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    };
                    return Ok(end_on_record(door, &session, op, seen_to + 1).await);
                }
            }
            Err(broadcast::error::RecvError::Closed) => {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
    }
}

/// How an operation that is over came to its end, by the log.
async fn end_on_record(
    door: &Door,
    session: &Session,
    op: OpId,
    mut from: u64,
) -> Result<(), Refusal> {
    loop {
        let batch = door.hands.line.read(from, EVENTS_READ).await;
        let Some(last) = batch.last() else {
            let why = "how it ended is not on record".to_owned();
            let step = "learn of the end".to_owned();
            return Err(Refusal::Failed { session: session.name.clone(), step, why });
        };
        from = last.seq + 1;
        let ours = batch.iter().filter(|recorded| recorded.session == session.id);
        let mut ends = ours.filter_map(|recorded| recorded.event.ends(session));
        if let Some((_, result)) = ends.find(|(ended, _)| *ended == op) {
            return result;
        }
    }
}

pub(super) type Translated = Result<(SessionId, Command), Box<Answer>>;

/// A pause that would be barred by what no snapshot holds is refused before it disturbs the agent.
async fn refuse_to_lose(door: &Door, session: &Session) -> Result<(), Box<Answer>> {
    let (hands, looked_at) = (Arc::clone(&door.hands), session.clone());
    let look = move || crate::trees::would_lose(&hands, &looked_at);
    // Whoever cannot look leaves it to the pause itself.
    let left_out = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    if left_out.total == 0 {
        return Ok(());
    }
    let name = session.name.clone();
    Err(Box::new(Answer::Refused(Refusal::WouldBeLost { session: name, left_out })))
}

async fn translate(door: &Door, given: &str, action: Action) -> Translated {
    let found = find(door, given).await.map_err(|refusal| Box::new(Answer::Refused(refusal)))?;
    let session = found.id.clone();
    let command = match action {
        Action::Send { text } => Command::Send { session, text },
        Action::Pause { mode, on_timeout, clearing } => {
            if clearing == Clearing::IfAllIsSaved && found.phase == Phase::Live {
                refuse_to_lose(door, &found).await?;
            }
            let reason = PauseReason::User;
            Command::Pause { session, mode, reason, on_timeout, clearing }
        }
        Action::CancelPause => Command::CancelPause { session },
        Action::Resume { prompt } => {
            let prompt = resume_words(door, &found, prompt);
            Command::Resume { session, prompt }
        }
        Action::Restart { with_context: true } => restart(&found, Some(context(door, &found))),
        Action::Restart { with_context: false } => restart(&found, found.spec.prompt.clone()),
        Action::Stop => Command::Stop { session },
        Action::Remove => Command::Remove { session },
        Action::Acknowledge => Command::Acknowledge { session },
        Action::Answer { ask, answer } => Command::Answer { session, ask: ask.map(AskId), answer },
        Action::Snapshot => Command::Snapshot { session },
        Action::Restore { snapshot } => {
            let snapshot = keep::chosen(&found, snapshot).await?;
            Command::Restore { session, snapshot }
        }
    };
    Ok((found.id, command))
}

/// A command has no conversation to come back to. Where the configuration wants it, it is told in
/// its first message what was said and done before.
fn resume_words(door: &Door, session: &Session, prompt: Option<String>) -> Option<String> {
    let told = door.hands.config().command.resume_prompt
        && session.spec.traits.refs == RefOrigin::None
        && session.ran
        && session.can_resume();
    if !told {
        return prompt;
    }
    let context = context(door, session);
    Some(prompt.map_or(context.clone(), |prompt| format!("{context}\n\n{prompt}")))
}

/// What a fresh agent has to know.
fn context(door: &Door, session: &Session) -> String {
    let digest = door.hands.digest(&session.id);
    glis_agent::context::resume_prompt(
        digest.summary.as_deref().unwrap_or("(nothing was said yet)"),
        digest.last_action.as_deref().unwrap_or("(none recorded)"),
        &digest.pending,
    )
}

fn restart(session: &Session, prompt: Option<String>) -> Command {
    let agent_ref = fresh_ref(session.spec.traits.refs);
    Command::Restart { session: session.id.clone(), agent_ref, prompt }
}

fn fresh_ref(origin: RefOrigin) -> Option<String> {
    (origin == RefOrigin::Chosen).then(|| uuid::Uuid::new_v4().to_string())
}

async fn create(door: &Door, wanted: NewSession) -> Translated {
    let bad = |message: String| Box::new(Answer::Trouble { kind: Trouble::BadInput, message });
    // The name is judged before git or anything else sees it.
    glis_core::name::check(&wanted.name).map_err(|why| {
        Box::new(Answer::Refused(Refusal::BadName { name: wanted.name.clone(), why }))
    })?;
    // What somebody has just changed must not be left out without a word.
    door.hands.settings.fault().map_or(Ok(()), |fault| Err(bad(fault)))?;
    let config = door.hands.config();
    let persona = config.persona(wanted.persona.as_deref()).map_err(bad)?;
    let usual = if wanted.argv.is_empty() { "rehearsal" } else { "command" };
    let configured = config.default_agent.as_deref().unwrap_or(usual);
    let agent_name = wanted.agent.as_deref().or(persona.agent.as_deref());
    let agent_name = agent_name.unwrap_or(configured).to_owned();
    let agent = glis_agent::find(&agent_name).ok_or_else(|| {
        let known: Vec<_> = glis_agent::table().iter().map(|(name, _)| *name).collect();
        bad(format!("there is no agent {agent_name:?}; known are {}", known.join(", ")))
    })?;
    let mode = if wanted.headless { Mode::Headless } else { agent.usual_mode() };
    let argv = [persona.args, wanted.argv].concat();
    agent.check(mode, &argv).map_err(bad)?;
    if persona.system_prompt.is_some() && !agent.takes_instructions() {
        let message = format!("{agent_name} takes no system prompt; leave it out of the persona");
        return Err(bad(message));
    }
    let site = if wanted.in_place { Site::InPlace } else { Site::Worktree };
    let repo_root = root_of(PathBuf::from(&wanted.repo), site).await.map_err(bad)?;
    // A revision means what it means where the caller stands, not at the repository's root.
    let base =
        base_of(PathBuf::from(&wanted.repo), wanted.base.clone(), site).await.map_err(bad)?;
    let traits = agent.traits(mode, &argv);
    let id = SessionId(uuid::Uuid::now_v7().to_string());
    let spec = Spec {
        agent: agent_name,
        mode,
        traits,
        repo_root,
        in_place: wanted.in_place,
        base,
        argv,
        prompt: wanted.prompt,
        model: wanted.model.or(persona.model),
        persona: wanted.persona,
        system_prompt: persona.system_prompt,
        permission_mode: persona.permission_mode,
        idle_timeout_secs: wanted.idle_timeout_secs.unwrap_or(IDLE_TIMEOUT_SECS),
        auto_yes: wanted.auto_yes,
    };
    let agent_ref = fresh_ref(traits.refs);
    let command =
        Command::New { id: id.clone(), name: wanted.name, spec: Box::new(spec), agent_ref };
    Ok((id, command))
}

/// Where a session works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    Worktree,
    InPlace,
}

async fn root_of(dir: PathBuf, site: Site) -> Result<String, String> {
    let found = tokio::task::spawn_blocking(move || {
        let dir = dir.canonicalize().map_err(|fault| format!("{}: {fault}", dir.display()))?;
        if !dir.is_dir() {
            return Err(format!("{} is not a folder", dir.display()));
        }
        if site == Site::InPlace {
            return unfit(&dir).map_or(Ok(dir), Err);
        }
        let roots = glis_snapshot::git::roots(&dir);
        roots.map(|roots| roots.main).map_err(|fault| unfit(&dir).unwrap_or(fault.to_string()))
    });
    let root = found.await.map_err(|fault| fault.to_string())??;
    root.into_os_string().into_string().map_err(|_| "the path is not valid UTF-8".to_owned())
}

/// Why nobody can work in a repository that is there.
fn unfit(dir: &Path) -> Option<String> {
    let shown = dir.display();
    match glis_snapshot::git::run(dir, &["rev-parse", "--is-bare-repository"]) {
        Ok(said) if said == "true" => Some(format!(
            "{shown} is a bare repository, which has no files to work on; clone it, or make a \
             worktree of it with `git worktree add`, and name that"
        )),
        // The last line of what git says then is the way out.
        Err(GitFault::Refused { message, .. }) if message.contains("safe.directory") => {
            Some(format!(
                "{shown} belongs to another user, so git does not touch it; if you trust it: {}",
                message.trim()
            ))
        }
        Ok(_) | Err(_) => None,
    }
}

async fn base_of(dir: PathBuf, base: Option<String>, site: Site) -> Result<Option<String>, String> {
    if site == Site::InPlace {
        return Ok(None);
    }
    let commit = move |dir: &Path| match base {
        Some(base) => {
            glis_snapshot::worktree::commit(dir, &base).map(Some).map_err(|f| f.to_string())
        }
        // A repository without a commit has none to begin from.
        None => Ok(glis_snapshot::worktree::commit(dir, "HEAD").ok()),
    };
    tokio::task::spawn_blocking(move || commit(&dir)).await.map_err(|fault| fault.to_string())?
}
