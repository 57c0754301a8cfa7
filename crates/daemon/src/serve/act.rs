//! Requests that change something: translated into commands, waited for until they are true.

use super::answer::{Answer, storage, told, trouble, unusable};
use super::carry::{Translated, carry_out, failed, until_ended};
use super::compact;
use super::files;
use super::keep;
use super::plans;
use super::state::ServerState;
use super::steps::Steps;
use super::triage;
use super::wait;
use crate::create::wrong::Wrong;
use crate::create::{Created, NotCreated, fresh_ref};
use crate::create::{budget, looped};
use crate::environments::Caller;
use crate::pools::Kind;
use glis_agent::context::{Form, Known, resume_prompt};
use glis_core::pause::{PauseMode, PauseReason, PauseWish};
use glis_core::session::{Phase, StopCause, WallMs};
use glis_core::spec::RefOrigin;
use glis_core::talk::Ask;
use glis_core::tree::Clearing;
use glis_core::triage::Put;
use glis_core::{AskId, Command, Refusal, Session, SessionId};
use glis_record::conversation::{self, Account};
use glis_wire::client::{Action, NewSession, Response};
use jiff::tz::TimeZone;
use std::fmt::Write as _;
use std::sync::Arc;

pub(super) async fn new(
    state: &ServerState,
    steps: &mut Steps<'_>,
    wanted: NewSession,
    caller: Option<Caller>,
) -> Answer {
    // Listening begins before anything is asked for, so that its end cannot be missed.
    let mut news = state.mailbox.news.subscribe();
    let created = state.creator.create(&wanted, caller.as_ref(), Some(steps.from())).await;
    let created = created.map_err(not_created)?;
    let Created { id, op, notes } = created;
    if let Some(op) = op
        && let Err(failure) = until_ended(state, steps, &mut news, &id, op).await?
    {
        return failed(state, &id, failure).await;
    }
    if wanted.prompt.as_deref().is_some_and(wait::may_be_cut) {
        wait::until_prompted(state, &mut news, &id).await;
    }
    let session = Box::new(state.one(&state.known(&id).await?).await);
    Ok(Response::Made { session, notes })
}

fn not_created(why: NotCreated) -> Response {
    match why {
        NotCreated::Refused(refusal) => Response::Refused(refusal),
        NotCreated::Unusable { message, hint } => unusable(message, hint),
        NotCreated::NoName => trouble("no name is free"),
        NotCreated::Ending => storage(),
    }
}

/// Does something with a session.
pub(super) async fn act(
    state: &ServerState,
    steps: &mut Steps<'_>,
    given: &str,
    action: Action,
    env: Option<Caller>,
) -> Answer {
    if let Action::Restart { with_context } = action
        && let Ok(session) = state.find(given).await
        && let Some(of) = session.spec.task
    {
        if with_context {
            let message = "a task begins anew from its own prompt";
            return Ok(unusable(message, "restart it without its conversation"));
        }
        return plans::restart_session(state, steps, *of, env).await;
    }
    let (action, copies) = files::bring_along(state, given, action).await?;
    let carried = async {
        let command = Box::pin(translate(state, given, action)).await?;
        Box::pin(carry_out(state, steps, command, env)).await
    };
    let response = told(carried.await)?;
    if matches!(response, Response::Refused(_)) {
        copies.discard(state).await;
    }
    Ok(response)
}

/// A pause that would be barred by what no snapshot holds is refused before it disturbs the agent.
async fn refuse_to_lose(state: &ServerState, session: &Session) -> Answer<()> {
    let (trees, looked_at) = (Arc::clone(&state.trees), session.clone());
    let look = move || trees.would_lose(&looked_at);
    // What cannot be looked at is left to the pause itself.
    let left_out = state.trees.jobs.ask(Kind::Ask, look).await.unwrap_or_default();
    if left_out.total == 0 {
        return Ok(());
    }
    Err(Refusal::WouldBeLost { session: session.name.clone(), left_out }.into())
}

pub(super) async fn translate(state: &ServerState, given: &str, action: Action) -> Translated {
    let found = state.find(given).await?;
    let session = found.id.clone();
    let command = match action {
        Action::Send { text, files: _ } => Command::Send { session, text },
        Action::Pause { mode, on_timeout, clearing, for_secs } => {
            let mode = mode.unwrap_or_else(|| usual_mode(&found));
            let on_timeout = on_timeout.unwrap_or(state.settings.now().pause.on_timeout);
            let clearing = match clearing {
                Some(clearing) => clearing,
                None => usual_clearing(state, &found).await,
            };
            if clearing == Clearing::IfAllIsSaved && found.phase == Phase::Live {
                refuse_to_lose(state, &found).await?;
            }
            let wish = PauseWish { mode, reason: PauseReason::User, on_timeout, clearing };
            Command::Pause { session, wish, until: for_secs.map(in_seconds) }
        }
        Action::CancelPause => Command::CancelPause { session },
        Action::Resume { prompt } => {
            let prompt = resume_words(state, &found, prompt).await;
            Command::Resume { session, prompt }
        }
        Action::Restart { with_context: true } => {
            restart(&found, Some(context(state, &found).await))
        }
        Action::Restart { with_context: false } => restart(&found, found.spec.prompt.clone()),
        Action::Stop => Command::Stop { session, cause: StopCause::Asked },
        Action::LimitIdle { limit } => Command::LimitIdle { session, limit },
        Action::Remove { running } => Command::Remove { session, running },
        Action::Acknowledge => Command::Acknowledge { session },
        Action::Answer { ask, answer, reason } => {
            Command::Answer { session, ask: ask.map(AskId), answer, reason }
        }
        Action::Label { add, remove } => {
            let put = triage::labels(&found, add, remove).map_err(unfit)?;
            Command::Triage { session, put }
        }
        Action::Pin { on } => Command::Triage { session, put: Put::Pinned(on) },
        Action::Snooze { until } => {
            let now = crate::clock::now().to_zoned(TimeZone::system());
            Command::Triage { session, put: triage::snooze(&until, &now).map_err(unfit)? }
        }
        Action::Budget { budget } => {
            let budget = budget::given(&budget, &found).map_err(unfit)?;
            let (live, id) = (Arc::clone(&state.views.live), found.id.clone());
            let look = move || live.digest(&id).account;
            let account = state.pools.run_blocking(Kind::Ask, look).await.map_err(trouble)?;
            let (cost_micros, tokens) = account.as_ref().map_or((0, 0), Account::amounts);
            Command::SetBudget { session, budget, cost_micros, tokens }
        }
        Action::BeginTyping => Command::BeginTyping { session },
        Action::AutoYes { on } => Command::SetAutoYes { session, on },
        Action::SetLoop { change } => {
            let checked = looped::check_change(&found, &change);
            checked.map_err(unfit)?;
            Command::SetLoop { session, change }
        }
        Action::Snapshot => Command::Snapshot { session },
        Action::Compact => {
            compact::refuse_needless(state, &found).await?;
            Command::Compact { session }
        }
        Action::Restore { snapshot } => {
            let snapshot = keep::chosen(state, &found, snapshot).await?;
            Command::Restore { session, snapshot }
        }
    };
    Ok((found.id, command))
}

fn unfit(Wrong { message, hint }: Wrong) -> Response {
    unusable(message, hint)
}

/// How a session is paused where the request does not say it: a loop after its iteration.
fn usual_mode(session: &Session) -> PauseMode {
    if session.iterates() { PauseMode::Boundary } else { PauseMode::Interrupt }
}

/// What the clock on the wall shows in so many seconds.
fn in_seconds(secs: u64) -> WallMs {
    let span = i64::try_from(secs).unwrap_or(i64::MAX).saturating_mul(1000);
    crate::clock::now().as_millisecond().saturating_add(span)
}

/// What becomes of the worktree where the request says nothing about it.
async fn usual_clearing(state: &ServerState, session: &Session) -> Clearing {
    let config = state.settings.now();
    let removes = match session.spec.remove_worktree {
        Some(removes) => removes,
        None if config.pause.remove_worktree => true,
        None => {
            let percent = config.pause.remove_below_percent;
            !on_full_disks(state, [session], percent).await.is_empty()
        }
    };
    // What a pause keeps stands in its worktree.
    let stays = session.spec.in_place || session.spec.keep_process;
    if removes && !stays { Clearing::IfPossible } else { Clearing::Keep }
}

/// Those of the sessions under whose worktrees less than so many percent of the disk are free for their
/// user.
pub(super) async fn on_full_disks(
    state: &ServerState,
    sessions: impl IntoIterator<Item = &Session>,
    percent: u64,
) -> Vec<SessionId> {
    let worktree = |session: &Session| Some((session.id.clone(), session.place.worktree.clone()?));
    let worktrees: Vec<_> = sessions.into_iter().filter_map(worktree).collect();
    if percent == 0 || worktrees.is_empty() {
        return Vec::new();
    }
    let is_full = move |worktree: &str| {
        rustix::fs::statvfs(worktree).is_ok_and(|disk| {
            disk.f_bavail.saturating_mul(100) < disk.f_blocks.saturating_mul(percent)
        })
    };
    let look = move || {
        let full = worktrees.into_iter().filter(|(_, worktree)| is_full(worktree));
        full.map(|(id, _)| id).collect()
    };
    state.pools.run(Kind::Look, look).await
}

/// A command has no conversation to come back to. Where the configuration wants it, it is told in
/// its first message what was said and done before.
async fn resume_words(
    state: &ServerState,
    session: &Session,
    prompt: Option<String>,
) -> Option<String> {
    let told = state.settings.now().command.resume_prompt
        && session.spec.traits.refs == RefOrigin::None
        && session.agent.ran
        && session.can_resume();
    if !told {
        return prompt;
    }
    let context = context(state, session).await;
    Some(prompt.map_or(context.clone(), |prompt| format!("{context}\n\n{prompt}")))
}

/// What a fresh agent has to know.
async fn context(state: &ServerState, session: &Session) -> String {
    let (live, id) = (Arc::clone(&state.views.live), session.id.clone());
    let dir = state.views.folder_of(session);
    let form = state.settings.now().resume.prompt;
    let look = move || {
        let told = match form {
            Form::Full => conversation::handed_over(&dir),
            Form::Short => conversation::first_request(&conversation::file_of(&dir)),
        };
        (live.digest(&id), told.ok().flatten())
    };
    let (digest, told) = state.pools.run(Kind::Look, look).await;
    let known = digest.known();
    let mut summary = match (form, told) {
        (Form::Full, Some(all)) => all,
        (Form::Short, Some(first)) if digest.last_prompt.as_ref() != Some(&first) => {
            format!("Began with: {first}. {}", known.summary.unwrap_or_default())
        }
        (Form::Full | Form::Short, _) => known.summary.unwrap_or_default().to_owned(),
    };
    let open = |kept: &&Ask| session.asked().iter().any(|ask| ask.id == kept.id);
    let gone = session.talk.was_asking.iter().filter(|kept| !open(kept));
    for ask in session.asked().iter().chain(gone) {
        write!(summary, "\n\nAsked by the agent, and not answered: {}", ask.text).ok();
    }
    let summary = Some(summary.as_str()).filter(|summary| !summary.is_empty());
    resume_prompt(form, Known { summary, ..known })
}

fn restart(session: &Session, prompt: Option<String>) -> Command {
    let agent_ref = fresh_ref(session.spec.traits.refs);
    Command::Restart { session: session.id.clone(), agent_ref, prompt }
}
