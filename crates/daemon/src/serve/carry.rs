//! Carrying a command out: asked of the core, waited for until it is true, its steps passed on.

use super::answer::{Answer, gone, storage};
use super::state::ServerState;
use super::steps::Steps;
use super::{unwritten, wait};
use crate::environments::Caller;
use crate::mailbox::Published;
use crate::view;
use glis_core::decision::Reply;
use glis_core::reason::FailedStep;
use glis_core::session::{Phase, Rest};
use glis_core::{AskId, Command, End, Failure, Input, OpId, Refusal, Session, SessionId};
use glis_wire::client::Response;
use glis_wire::hold::Ladder;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Events read at once while looking for one.
const EVENTS_READ: u32 = 500;

pub(super) type Translated = Answer<(SessionId, Command)>;

/// Asks for something and waits until it is true.
pub(super) async fn carry_out(
    state: &ServerState,
    steps: &mut Steps<'_>,
    (id, command): (SessionId, Command),
    env: Option<Caller>,
) -> Answer {
    let asked = Asked::new(state, id, &command, env).await;
    let reply = state.mailbox.ask(Input::Command(command), Some(steps.from().clone())).await;
    asked.settle(state, steps, reply).await
}

/// What is needed to wait for what comes of a command.
pub(super) struct Asked {
    id: SessionId,
    /// The session as it was before.
    found: Option<Session>,
    news: broadcast::Receiver<Arc<Published>>,
    /// A message may be refused before the session is looked at again: this listens for it alone.
    handed_over: Option<broadcast::Receiver<Arc<Published>>>,
    question: Option<AskId>,
    ladder: Option<Ladder>,
    /// It is a stop, and cuts short what is done with the session's files.
    cuts_chore: bool,
}

impl Asked {
    /// Before the command is handed in: listening begins here, so that its end cannot be missed.
    pub(super) async fn new(
        state: &ServerState,
        id: SessionId,
        command: &Command,
        env: Option<Caller>,
    ) -> Self {
        let news = state.mailbox.news.subscribe();
        let found = state.session(&id).await;
        if let Some(env) = env
            && may_begin_start(command, found.as_ref())
        {
            state.creator.common.environments.remember(&id, env);
        }
        let question = wait::question_of(found.as_ref(), command);
        let long = matches!(command, Command::Send { text, .. } if wait::may_be_cut(text));
        let handed_over = long.then(|| state.mailbox.news.subscribe());
        let ladder = unwritten::ladder_of(state, command);
        let cuts_chore = matches!(command, Command::Stop { .. })
            && matches!(found.as_ref().map(|session| &session.phase), Some(Phase::Chore { .. }));
        Self { id, found, news, handed_over, question, ladder, cuts_chore }
    }

    /// Waits until what was asked for is true. `reply` is none if the controller has ended.
    pub(super) async fn settle(
        self,
        state: &ServerState,
        steps: &mut Steps<'_>,
        reply: Option<Result<Reply, Refusal>>,
    ) -> Answer {
        let Self { id, found, mut news, mut handed_over, question, ladder, cuts_chore } = self;
        let Some(reply) = reply else {
            return Ok(without_log(state, found.as_ref(), ladder).await);
        };
        match reply? {
            Reply::Done => {
                if let (Some(session), Some(ask)) = (&found, question) {
                    let look = || wait::find_process(state, &id, session.agent.generation);
                    wait::until_heard(&mut news, session, &ask, wait::PATIENCE, look).await?;
                }
                done(state, &id, found, false).await
            }
            Reply::Already => done(state, &id, found, true).await,
            // What it waits for is in the session.
            Reply::Deferred | Reply::Gate { .. } => done(state, &id, found, false).await,
            Reply::Queued { message, before, status } => {
                let session = wait::until_woken(state, &mut news, &id).await;
                let session = session.ok_or_else(storage)?;
                // What waits in the queue is not handed over by waiting for it.
                if let Some(handed_over) = &mut handed_over
                    && !wait::is_waiting(&session, message)
                {
                    wait::until_handed_over(handed_over, &session, message).await?;
                }
                let session = Box::new(state.one(&session).await);
                let idle_secs = found.as_ref().and_then(idle_secs);
                Ok(Response::Queued { session, message: message.0, before, status, idle_secs })
            }
            Reply::Pending(op) => {
                let ended = tokio::select! {
                    ended = until_ended(state, steps, &mut news, &id, op) => ended?,
                    () = state.daemon.owed.log_failed() => {
                        return Ok(without_log(state, found.as_ref(), ladder).await);
                    }
                };
                match ended {
                    Ok(()) => done(state, &id, found, false).await,
                    // The chore was not this caller's: that it is over is what was asked for.
                    Err(_) if cuts_chore => done(state, &id, found, false).await,
                    Err(failure) => failed(state, &id, failure).await,
                }
            }
        }
    }
}

/// What is done where nothing can be written down: an agent that is to be ended by this ladder is ended.
async fn without_log(
    state: &ServerState,
    session: Option<&Session>,
    ladder: Option<Ladder>,
) -> Response {
    match (session, ladder) {
        (Some(session), Some(ladder)) => unwritten::end(state, session, ladder).await,
        (Some(_) | None, _) => storage(),
    }
}

/// What is told of an operation that did not come to what was asked for.
pub(super) async fn failed(state: &ServerState, id: &SessionId, failure: Failure) -> Answer {
    Ok(Response::Refused(failure.told(&state.known(id).await?)))
}

/// Whether a start can follow from this. A command that comes while a process runs, or while one is on
/// its way in another environment, has no say in it.
fn may_begin_start(command: &Command, session: Option<&Session>) -> bool {
    let Some(session) = session else { return true };
    match &session.phase {
        // A restart stops what runs, and starts anew in the environment of the command.
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
    u64::try_from((now - session.times.last_active_at) / 1000).ok()
}

/// `found` is the session as it was before: what was emptied from the trash is told as it was.
async fn done(
    state: &ServerState,
    id: &SessionId,
    found: Option<Session>,
    already: bool,
) -> Answer {
    let session = state.session(id).await.or(found).ok_or_else(storage)?;
    Ok(state.done(&session, already).await)
}

/// Waits for the end of an operation and passes its steps on.
pub(super) async fn until_ended(
    state: &ServerState,
    steps: &mut Steps<'_>,
    news: &mut broadcast::Receiver<Arc<Published>>,
    id: &SessionId,
    op: OpId,
) -> Answer<End> {
    let mut seen_to = 0;
    loop {
        let published = tokio::select! {
            published = news.recv() => published,
            () = steps.gone() => return gone(),
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
                steps.send(&Response::Step(view::event(&published.recorded))).await?;
            }
            // Left behind: how it ended may be among what was missed.
            Err(broadcast::error::RecvError::Lagged(_)) => {
                let session = state.session(id).await;
                let operation = session.as_ref().and_then(Session::operation);
                if operation.is_none_or(|(under_way, _)| under_way != op) {
                    return Ok(end_on_record(state, id, op, seen_to + 1).await);
                }
            }
            Err(broadcast::error::RecvError::Closed) => return gone(),
        }
    }
}

/// How an operation that is over came to its end, by the log.
async fn end_on_record(state: &ServerState, id: &SessionId, op: OpId, mut from: u64) -> End {
    loop {
        let batch = state.mailbox.read(from, EVENTS_READ).await;
        let Some(last) = batch.last() else {
            let why = "it is not recorded how it ended".to_owned().into();
            let step = FailedStep::LearnEnd;
            return Err(Failure::Failed { step, why });
        };
        from = last.seq + 1;
        let ours = batch.iter().filter(|recorded| recorded.subject.is(id));
        let mut ends = ours.filter_map(|recorded| recorded.event.ends());
        if let Some((_, result)) = ends.find(|(ended, _)| *ended == op) {
            return result;
        }
    }
}
