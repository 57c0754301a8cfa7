//! What becomes of a message and of an answer, as far as it shows at once: the front end that gave them is told.

use super::state::ServerState;
use crate::holder::is_held;
use crate::mailbox::Published;
use crate::pools::Kind;
use crate::process::handle_of;
use glis_core::event::{Ending, Event};
use glis_core::pause::PauseStep;
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

/// The end of a process whose holder was killed is on record once what it left is swept, which has 20 s,
/// and its last words are heard.
const ENDING_TIME: Duration = Duration::from_secs(30);

/// How long an answer is waited for.
pub(super) struct Patience {
    hearing: Duration,
    ending: Duration,
}

pub(super) const PATIENCE: Patience = Patience { hearing: HEARING_TIME, ending: ENDING_TIME };

/// What is found of the process that an answer is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Alive,
    /// It is gone, or its end is under way.
    Ending,
}

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
    !is_on_its_way && session.talk.queue.iter().any(|queued| queued.id == message)
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
    let settled = until_settled(news, session, HEARING_TIME, |event| {
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
    settled.await.unwrap_or(Ok(()))
}

/// Waits until an event of a session settles something, as `settle` says. `None` if none does in this
/// time.
async fn until_settled(
    news: &mut News,
    session: &Session,
    time: Duration,
    settle: impl Fn(&Event) -> Option<Result<(), Refusal>>,
) -> Option<Result<(), Refusal>> {
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
    tokio::time::timeout(time, settled).await.ok()
}

/// The question of an agent that an answer is for, as the session was before it.
pub(super) fn question_of(session: Option<&Session>, command: &Command) -> Option<AskId> {
    let Command::Answer { ask: which, .. } = command else { return None };
    let asks = session?.asks().into_iter();
    let mut meant = asks.filter(|ask| which.as_ref().is_none_or(|id| ask.id == *id));
    meant.next().filter(|ask| ask.kind != AskKind::Doubt).map(|ask| ask.id)
}

/// Waits until the agent was seen to take the answer, or it is clear that it was not given. Who goes
/// on asking is told as it is; `look` says whether it lives to go on.
pub(super) async fn until_heard<L: Future<Output = Found>>(
    news: &mut News,
    session: &Session,
    question: &AskId,
    patience: Patience,
    look: impl FnOnce() -> L,
) -> Result<(), Refusal> {
    let not_given = |why: Why| {
        let session = session.name.clone();
        Err(Refusal::AnswerNotGiven { session, why })
    };
    let settle = |event: &Event| {
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
    };
    let settled = until_settled(news, session, patience.hearing, settle).await;
    if let Some(Err(why)) = settled {
        return Err(why);
    }
    match look().await {
        Found::Alive => Ok(()),
        // A question goes with an agent as well that is killed from outside.
        Found::Ending if settled.is_some() => {
            let settle = |event: &Event| {
                let Event::ProcessEnded { ending, ordered, .. } = event else { return None };
                let killed = !ordered && !matches!(ending, Ending::Exited(_));
                Some(if killed { not_given(Why::EndedBeforeAnswer) } else { Ok(()) })
            };
            until_settled(news, session, patience.ending, settle).await.unwrap_or(Ok(()))
        }
        // Its last words may still say that it took the answer.
        Found::Ending => until_settled(news, session, patience.ending, settle)
            .await
            .unwrap_or_else(|| not_given(Why::EndedBeforeAnswer)),
    }
}

/// Looks for the process of this generation: by the log, by its holder and by the kernel.
pub(super) async fn find_process(state: &ServerState, id: &SessionId, generation: u32) -> Found {
    let now = state.session(id).await;
    let Some(session) = now.filter(|now| now.agent.generation == generation && now.runs()) else {
        return Found::Ending;
    };
    let is_ending = match &session.phase {
        Phase::Stopping { .. } => true,
        Phase::Pausing(pause) => pause.step == PauseStep::Ending,
        Phase::Starting(_) | Phase::Live | Phase::Rest(_) | Phase::Chore { .. } => false,
    };
    if is_ending {
        return Found::Ending;
    }
    let dir = state.home.session(&id.0);
    let lives = move || {
        is_held(&dir, &session) && session.process().is_some_and(|p| handle_of(p).is_some())
    };
    // A disk that cannot be asked is no reason to believe that it is gone.
    let lives = state.pools.run_blocking(Kind::Look, lives).await.unwrap_or(true);
    if lives { Found::Alive } else { Found::Ending }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::leftover::Leftovers;
    use glis_core::{Recorded, Subject};

    /// No test waits for what does not come.
    const NONE: Patience = Patience { hearing: Duration::ZERO, ending: Duration::ZERO };

    /// What is said of an answer if nothing is heard in time, this is found then, and this event comes
    /// after it.
    async fn heard_late(patience: Patience, found: Found, then: Option<Event>) -> Option<Why> {
        heard(patience, None, found, then).await
    }

    /// The same if something was heard in time.
    async fn heard(
        patience: Patience,
        first: Option<Event>,
        found: Found,
        then: Option<Event>,
    ) -> Option<Why> {
        let (session, question) = (crate::fill::session(), AskId("q".to_owned()));
        let (tell, mut news) = broadcast::channel(4);
        let subject: Subject = session.id.clone().into();
        let publish = move |tell: &broadcast::Sender<_>, event| {
            let recorded = Recorded::new(1, 0, subject.clone(), event);
            tell.send(Arc::new(Published { recorded, ended: None })).unwrap();
        };
        if let Some(event) = first {
            publish(&tell, event);
        }
        let look = || async move {
            if let Some(event) = then {
                publish(&tell, event);
            }
            // Kept open: a daemon that ends is another matter.
            drop(tokio::spawn(async move { tell.closed().await }));
            found
        };
        match until_heard(&mut news, &session, &question, patience, look).await {
            Ok(()) => None,
            Err(Refusal::AnswerNotGiven { why, .. }) => Some(why),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn an_answer_to_a_process_that_is_gone_is_not_told_as_given() {
        assert_eq!(heard_late(NONE, Found::Alive, None).await, None);
        let ended = Some(Why::EndedBeforeAnswer);
        assert_eq!(heard_late(NONE, Found::Ending, None).await, ended);
        let patient = || Patience { hearing: Duration::ZERO, ending: ENDING_TIME };
        let left = Box::new(Leftovers::default());
        let end =
            Event::ProcessEnded { generation: 1, ending: Ending::Unknown, ordered: false, left };
        assert_eq!(heard_late(patient(), Found::Ending, Some(end)).await, ended);
    }

    /// What is killed from outside takes its questions with it: that they are gone is no answer.
    #[tokio::test]
    async fn a_question_that_goes_with_a_process_is_not_told_as_answered() {
        let patient = || Patience { hearing: ENDING_TIME, ending: ENDING_TIME };
        let gone = || Some(Event::AskGone { ask: AskId("q".to_owned()), spot: None });
        let end = |ending| {
            let left = Box::new(Leftovers::default());
            Some(Event::ProcessEnded { generation: 1, ending, ordered: false, left })
        };
        for (found, ending, told) in [
            (Found::Ending, Ending::Unknown, Some(Why::EndedBeforeAnswer)),
            (Found::Ending, Ending::Exited(0), None),
            (Found::Alive, Ending::Unknown, None),
        ] {
            assert_eq!(heard(patient(), gone(), found, end(ending)).await, told);
        }
    }

    #[tokio::test]
    async fn the_last_words_of_a_process_may_say_that_it_took_the_answer() {
        let patient = Patience { hearing: Duration::ZERO, ending: ENDING_TIME };
        let taken = Event::AskGone { ask: AskId("q".to_owned()), spot: None };
        assert_eq!(heard_late(patient, Found::Ending, Some(taken)).await, None);
    }
}
