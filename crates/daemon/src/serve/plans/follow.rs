//! A plan, followed: what its runs become, until nothing of it goes on by itself.

use crate::mailbox::Published;
use crate::peer::Peer;
use crate::plan_view;
use crate::serve::answer::{Answer, gone};
use crate::serve::state::ServerState;
use glis_core::plan::Run;
use glis_core::{Event, House, PlanId, RunId, SessionId, Subject};
use glis_wire::client::Response;
use glis_wire::plan::RunView;
use std::collections::BTreeMap;
use tokio::sync::broadcast::error::RecvError;

pub(super) async fn seen(state: &ServerState, id: PlanId) -> Answer {
    let look = move |house: &House| house.plan(&id).map(|plan| plan_view::plan(house, plan));
    let plan = state.house(look).await?;
    Ok(plan.map_or(Response::NoPlan, |plan| Response::Plan(Box::new(plan))))
}

/// What has changed in the runs of a plan since it was last looked at.
#[derive(Default)]
struct Seen(BTreeMap<RunId, RunView>);

impl Seen {
    /// The runs that differ, and whether nothing of the plan goes on by itself: with what is asked, where that is
    /// `answered`.
    async fn look(
        &mut self,
        state: &ServerState,
        id: &PlanId,
        answered: bool,
    ) -> Option<(Vec<RunView>, bool)> {
        let (wanted, known) = (id.clone(), self.0.keys().cloned().collect::<Vec<_>>());
        let look = move |house: &House| {
            let plan = house.plan(&wanted)?;
            let runs = plan.active.iter().chain(&known).filter_map(|id| plan.run(id));
            let view = |run: &Run| plan_view::run(plan, run, plan_view::session_of(house, run));
            let runs: BTreeMap<RunId, RunView> =
                runs.map(|run| (run.id.clone(), view(run))).collect();
            let asks = |run: &Run| plan_view::asks(run, plan_view::session_of(house, run));
            let moves = |run: &Run| runs.get(&run.id).is_some_and(|view| view.moves);
            let mut active = plan.active.iter().filter_map(|id| plan.run(id));
            let waits =
                !answered && active.clone().any(asks) && active.all(|run| asks(run) || !moves(run));
            Some((runs, waits || plan_view::is_at_rest(house, plan)))
        };
        let (runs, at_rest) = state.mailbox.house(look).await??;
        let differs = |(id, run): &(&RunId, &RunView)| self.0.get(*id) != Some(*run);
        let changed = runs.iter().filter(differs).map(|(_, run)| run.clone()).collect();
        // What is over is told once more when it is, and not looked at again.
        self.0 = runs;
        self.0.retain(|_, run| run.commit.is_none() && run.fault.is_none());
        Some((changed, at_rest))
    }
}

/// Whether something has happened to a plan or to a session of it.
fn concerns(published: &Published, id: &PlanId, sessions: &[SessionId]) -> bool {
    match &published.recorded.subject {
        Subject::Plan(plan) => plan == id,
        Subject::Session(session) => sessions.contains(session) || is_born(published, id),
        // The gate holds everything.
        Subject::House => true,
    }
}

/// Whether a session of the plan has come into being.
fn is_born(published: &Published, id: &PlanId) -> bool {
    let Event::SessionCreated { spec, .. } = &published.recorded.event else { return false };
    spec.task.as_ref().is_some_and(|task| task.plan == *id)
}

/// Tells every change of a plan's runs, until nothing of it goes on by itself.
pub(super) async fn follow(
    state: &ServerState,
    peer: &mut Peer,
    id: PlanId,
    answered: bool,
) -> Answer {
    let mut news = state.mailbox.news.subscribe();
    let mut seen_runs = Seen::default();
    loop {
        let Some((changed, at_rest)) = seen_runs.look(state, &id, answered).await else {
            return Ok(Response::NoPlan);
        };
        for run in changed {
            peer.send(&Response::Run(Box::new(run))).await?;
        }
        if at_rest {
            // What the records say is what is shown.
            state.plans.records.settled().await;
            return seen(state, id).await;
        }
        let sessions: Vec<SessionId> =
            seen_runs.0.values().filter_map(|run| run.session.clone().map(SessionId)).collect();
        loop {
            tokio::select! {
                published = news.recv() => match published {
                    Ok(published) if concerns(&published, &id, &sessions) => break,
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return gone(),
                },
                () = peer.gone() => return gone(),
            }
        }
    }
}
