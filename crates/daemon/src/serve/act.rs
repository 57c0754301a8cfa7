//! Requests that change something: translated into commands, waited for until they are true.

use super::{Door, fate, find, keep, new, seen};
use crate::adapters::Caller;
use crate::controller::{Look, Published};
use crate::peer::Peer;
use crate::{view, work};
use glis_agent::context::resume_prompt;
use glis_core::decision::Reply;
use glis_core::pause::PauseReason;
use glis_core::session::{Phase, Rest};
use glis_core::spec::RefOrigin;
use glis_core::tree::Clearing;
use glis_core::{AskId, Command, OpId, Refusal, Session, SessionId};
use glis_wire::client::{Action, Answer, NewSession, Trouble};
use std::io;
use std::sync::Arc;
use tokio::sync::broadcast;

/// So many names that were made are tried in a row: each is lost to somebody who was faster.
const NAMINGS: u32 = 5;
/// Events read at once while looking for one.
const EVENTS_READ: u32 = 500;

/// Makes a session.
pub(super) async fn new(
    door: &Door,
    peer: &mut Peer,
    wanted: NewSession,
    env: Option<Caller>,
) -> io::Result<Answer> {
    let given = wanted.name.is_some();
    for _ in 0..NAMINGS {
        let (command, notes) =
            match new::create(door, &wanted, env.as_ref().map(|caller| &caller.env)).await {
                Ok(created) => created,
                Err(answer) => return Ok(*answer),
            };
        let answer = carry_out(door, peer, command, env.clone()).await?;
        if let Answer::Done { session, .. } = answer {
            return Ok(Answer::Made { session, notes });
        }
        let taken = matches!(answer, Answer::Refused(Refusal::NameTaken { .. }));
        if given || !taken {
            return Ok(answer);
        }
        // Somebody else has taken the name that was made meanwhile: the next one.
    }
    Ok(Answer::Trouble { kind: Trouble::Internal, message: "no name is free".to_owned() })
}

/// Does something with a session.
pub(super) async fn act(
    door: &Door,
    peer: &mut Peer,
    given: &str,
    action: Action,
    env: Option<Caller>,
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
    env: Option<Caller>,
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
    let may_be_cut = fate::may_be_cut(&command);
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
            // What waits in the queue is not handed over by waiting for it.
            if may_be_cut
                && session.in_flight().is_some_and(|sent| sent.id == message)
                && let Err(refusal) = fate::until_handed_over(&mut news, &session, message).await
            {
                return Ok(Answer::Refused(refusal));
            }
            let session = Box::new(seen(door, &session).await);
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
        // A restart stops what runs, and starts anew as whoever asked for it.
        Phase::Live => matches!(command, Command::Restart { .. }),
        Phase::Starting(_) | Phase::Pausing(_) | Phase::Chore { .. } => false,
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
        Some(session) => Answer::Done { session: Box::new(seen(door, &session).await), already },
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
                if !published.recorded.subject.is(id) {
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
        let ours = batch.iter().filter(|recorded| recorded.subject.is(&session.id));
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
    let left_out = door.hands.ask_git(look).await.unwrap_or_default();
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
            let on_timeout = on_timeout.unwrap_or(door.hands.config().pause.on_timeout);
            let clearing = clearing.unwrap_or_else(|| usual_clearing(door, &found));
            if clearing == Clearing::IfAllIsSaved && found.phase == Phase::Live {
                refuse_to_lose(door, &found).await?;
            }
            let reason = PauseReason::User;
            Command::Pause { session, mode, reason, on_timeout, clearing }
        }
        Action::CancelPause => Command::CancelPause { session },
        Action::Resume { prompt } => {
            let prompt = resume_words(door, &found, prompt).await;
            Command::Resume { session, prompt }
        }
        Action::Restart { with_context: true } => {
            restart(&found, Some(context(door, &found).await))
        }
        Action::Restart { with_context: false } => restart(&found, found.spec.prompt.clone()),
        Action::Stop => Command::Stop { session },
        Action::Remove { running } => Command::Remove { session, running },
        Action::Acknowledge => Command::Acknowledge { session },
        Action::Answer { ask, answer } => Command::Answer { session, ask: ask.map(AskId), answer },
        Action::Snapshot => Command::Snapshot { session },
        Action::Restore { snapshot } => {
            let snapshot = keep::chosen(door, &found, snapshot).await?;
            Command::Restore { session, snapshot }
        }
    };
    Ok((found.id, command))
}

/// What becomes of the worktree where whoever pauses says nothing about it.
fn usual_clearing(door: &Door, session: &Session) -> Clearing {
    let configured = || door.hands.config().pause.remove_worktree;
    let removes = session.spec.remove_worktree.unwrap_or_else(configured);
    if removes && !session.spec.in_place { Clearing::IfPossible } else { Clearing::Keep }
}

/// A command has no conversation to come back to. Where the configuration wants it, it is told in
/// its first message what was said and done before.
async fn resume_words(door: &Door, session: &Session, prompt: Option<String>) -> Option<String> {
    let told = door.hands.config().command.resume_prompt
        && session.spec.traits.refs == RefOrigin::None
        && session.ran
        && session.can_resume();
    if !told {
        return prompt;
    }
    let context = context(door, session).await;
    Some(prompt.map_or(context.clone(), |prompt| format!("{context}\n\n{prompt}")))
}

/// What a fresh agent has to know.
async fn context(door: &Door, session: &Session) -> String {
    let (hands, id) = (Arc::clone(&door.hands), session.id.clone());
    let digest = work::beside(move || hands.digest(&id)).await;
    resume_prompt(door.hands.config().resume.prompt, digest.known())
}

fn restart(session: &Session, prompt: Option<String>) -> Command {
    let agent_ref = fresh_ref(session.spec.traits.refs);
    Command::Restart { session: session.id.clone(), agent_ref, prompt }
}

pub(super) fn fresh_ref(origin: RefOrigin) -> Option<String> {
    (origin == RefOrigin::Chosen).then(|| uuid::Uuid::new_v4().to_string())
}
