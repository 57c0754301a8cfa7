//! What becomes of a message and of an answer, as far as it shows at once: the front end that gave them is told.

use super::state::ServerState;
use crate::mailbox::Published;
use glis_core::event::Event;
use glis_core::reason::Why;
use glis_core::session::{Phase, Session, StartStep};
use glis_core::talk::AskKind;
use glis_core::{AskId, Command, MessageId, Refusal, SessionId};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;

type News = broadcast::Receiver<Arc<Published>>;

/// A process is there within this time, or something keeps it that takes longer than a front end
/// that has only sent a message should wait.
const START_TIME: Duration = Duration::from_secs(5);

/// An agent takes an answer at once, or has not understood it.
const HEARING_TIME: Duration = Duration::from_secs(5);

/// Waits until a start that a message has caused has brought up a process, or has failed. How it goes
/// on is to be seen in the session.
pub(super) async fn until_woken(
    state: &ServerState,
    news: &mut News,
    id: &SessionId,
) -> Option<Session> {
    // A worktree may take as long as the user's own set-up does.
    let comes_up = |session: &Session| {
        matches!(&session.phase, Phase::Starting(start)
            if matches!(start.step, StartStep::Check | StartStep::Process))
    };
    let woken = async {
        loop {
            let session = state.session(id).await;
            if !session.as_ref().is_some_and(comes_up) {
                return;
            }
            // Whatever was missed is in the session by now.
            if let Err(broadcast::error::RecvError::Closed) = news.recv().await {
                return;
            }
        }
    };
    // Late is not failed: then the session is told as it is.
    tokio::time::timeout(START_TIME, woken).await.ok();
    state.session(id).await
}

/// The longest line that every terminal takes whole, see the holder.
const LINE_BYTES_MAX: usize = 4095;

/// Whether a message may be one that a terminal would cut.
pub(super) fn may_be_cut(text: &str) -> bool {
    text.lines().any(|line| line.len() > LINE_BYTES_MAX)
}

/// Waits until a first message that a terminal may cut is handed over or refused. The session tells
/// which.
pub(super) async fn until_prompted(state: &ServerState, news: &mut News, id: &SessionId) {
    let Some(session) = state.session(id).await else { return };
    if let Some(sent) = session.in_flight() {
        drop(until_handed_over(news, &session, sent.id).await);
    }
}

/// Whether a message waits behind others or for the agent. One that is not in the queue any more was
/// handed over or refused.
pub(super) fn is_waiting(session: &Session, message: MessageId) -> bool {
    let is_on_its_way = session.in_flight().is_some_and(|sent| sent.id == message);
    !is_on_its_way && session.queue.iter().any(|queued| queued.id == message)
}

/// Waits until a message is known to be handed over or refused, or it is clear that it has to wait.
pub(super) async fn until_handed_over(
    news: &mut News,
    session: &Session,
    message: MessageId,
) -> Result<(), Refusal> {
    let not_sent = |why: &String| {
        let (session, why) = (session.name.clone(), why.clone());
        Err(Refusal::NotSent { session, why })
    };
    let settled = until_settled(news, session, |event| {
        if let Event::MessageRefused { message: of, why } = event
            && *of == message
        {
            return Some(not_sent(why));
        }
        let over = matches!(
            event,
            Event::MessageTaken { message: of, .. } | Event::DeliveryRefused { message: of, .. }
                if *of == message
        );
        over.then_some(Ok(()))
    });
    settled.await
}

/// Waits until an event of a session settles something, as `settle` says, but no longer than for what an
/// agent does at once.
async fn until_settled(
    news: &mut News,
    session: &Session,
    settle: impl Fn(&Event) -> Option<Result<(), Refusal>>,
) -> Result<(), Refusal> {
    let settled = async {
        loop {
            let published = match news.recv().await {
                Ok(published) => published,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
            if published.recorded.subject.is(&session.id)
                && let Some(settled) = settle(&published.recorded.event)
            {
                return settled;
            }
        }
    };
    tokio::time::timeout(HEARING_TIME, settled).await.unwrap_or(Ok(()))
}

/// The question of an agent that an answer is for, as the session was before it.
pub(super) fn question_of(session: Option<&Session>, command: &Command) -> Option<AskId> {
    let Command::Answer { ask: which, .. } = command else { return None };
    let asks = session?.asks().into_iter();
    let mut meant = asks.filter(|ask| which.as_ref().is_none_or(|id| ask.id == *id));
    meant.next().filter(|ask| ask.kind != AskKind::Doubt).map(|ask| ask.id)
}

/// Waits until the agent was seen to take the answer, or it is clear that it was not given. Who goes
/// on asking is told as it is.
pub(super) async fn until_heard(
    news: &mut News,
    session: &Session,
    question: &AskId,
) -> Result<(), Refusal> {
    let not_given = |why: Why| {
        let session = session.name.clone();
        Err(Refusal::AnswerNotGiven { session, why })
    };
    let heard = until_settled(news, session, |event| {
        if matches!(event, Event::AskGone { ask, .. } if ask == question) {
            return Some(Ok(()));
        }
        if let Event::AnswerFailed { ask, why } = event
            && ask == question
        {
            return Some(not_given(why.clone()));
        }
        let ended = matches!(event, Event::ProcessEnded { .. });
        ended.then(|| not_given(Why::EndedBeforeAnswer))
    });
    heard.await
}
