//! Several commands as one decision, each waited for until it is true, told in the order that was asked
//! for.

use super::answer::{Answer, gone, told, trouble};
use super::carry::{Asked, Translated};
use super::state::ServerState;
use super::steps::Steps;
use crate::environments::Caller;
use glis_core::{Refusal, Reply};
use glis_wire::client::Response;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Carries several commands out as one decision, and tells what came of each in this order.
pub(super) async fn carry_out_together(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    wanted: Vec<Translated>,
    env: Option<Caller>,
) -> Answer {
    let (mut commands, mut waiting) = (Vec::new(), Vec::new());
    for wanted in wanted {
        waiting.push(match wanted {
            Ok((id, command)) => {
                let asked = Asked::new(state, id, &command, env.clone()).await;
                commands.push(command);
                Ok(asked)
            }
            Err(ended) => Err(ended),
        });
    }
    let replies = state.mailbox.together(commands, Some(steps.from().clone())).await;
    let mut replies = replies.map(Vec::into_iter);
    let waiting = waiting.into_iter().map(|waiting| {
        let reply = waiting.is_ok().then(|| replies.as_mut()?.next()).flatten();
        (waiting, reply)
    });
    Ok(Response::Each(settle_each(state, steps, waiting.collect()).await?))
}

/// What was asked for and what the controller has replied, if it has not ended; or what is told instead.
pub(super) type Waiting = (Answer<Asked>, Option<Result<Reply, Refusal>>);

/// Waits for what comes of each, and tells it as soon as all before it are told.
pub(super) async fn settle_each(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    waiting: Vec<Waiting>,
) -> Answer<Vec<Response>> {
    let mut under_way = JoinSet::new();
    for (at, (waiting, reply)) in waiting.into_iter().enumerate() {
        let (state, from) = (Arc::clone(state), steps.from().clone());
        under_way.spawn(async move {
            let response = match waiting {
                Ok(asked) => asked.settle(&state, &mut Steps::Unseen(from), reply).await,
                Err(ended) => Err(ended),
            };
            (at, response)
        });
    }
    let (mut early, mut responses) = (BTreeMap::new(), Vec::new());
    loop {
        let ended = tokio::select! {
            ended = under_way.join_next() => ended,
            () = steps.gone() => {
                // What was begun is done, whether or not its caller waits.
                under_way.detach_all();
                return gone();
            }
        };
        let Some(ended) = ended else { break };
        let (at, response) = ended.map_err(io::Error::other)?;
        early.insert(at, told(response).unwrap_or_else(trouble));
        while let Some(response) = early.remove(&responses.len()) {
            steps.send(&Response::One(Box::new(response.clone()))).await?;
            responses.push(response);
        }
    }
    Ok(responses)
}
