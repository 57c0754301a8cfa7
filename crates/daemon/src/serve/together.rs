//! Several commands as one decision, each waited for until it is true, told in the order that was asked
//! for.

use super::carry::{Asked, Translated, trouble};
use super::state::ServerState;
use super::steps::Steps;
use crate::environments::Caller;
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
) -> io::Result<Response> {
    let (mut commands, mut waiting) = (Vec::new(), Vec::new());
    for wanted in wanted {
        waiting.push(match wanted {
            Ok((id, command)) => {
                let asked = Asked::new(state, id, &command, env.clone()).await;
                commands.push(command);
                Ok(asked)
            }
            Err(response) => Err(*response),
        });
    }
    let replies = state.mailbox.together(commands, Some(steps.from().clone())).await;
    let mut replies = replies.map(Vec::into_iter);
    let mut under_way = JoinSet::new();
    for (at, waiting) in waiting.into_iter().enumerate() {
        let reply = waiting.is_ok().then(|| replies.as_mut()?.next()).flatten();
        let (state, from) = (Arc::clone(state), steps.from().clone());
        under_way.spawn(async move {
            let response = match waiting {
                Ok(asked) => asked.settle(&state, &mut Steps::Unseen(from), reply).await,
                Err(response) => Ok(response),
            };
            (at, response)
        });
    }
    Ok(Response::Each(tell_in_order(steps, under_way).await?))
}

/// Tells what came of each as soon as all before it are told.
pub(super) async fn tell_in_order(
    steps: &mut Steps<'_>,
    mut under_way: JoinSet<(usize, io::Result<Response>)>,
) -> io::Result<Vec<Response>> {
    let (mut early, mut told) = (BTreeMap::new(), Vec::new());
    loop {
        let ended = tokio::select! {
            ended = under_way.join_next() => ended,
            () = steps.gone() => {
                // What was begun is done, whether or not its caller waits.
                under_way.detach_all();
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        };
        let Some(ended) = ended else { break };
        let (at, response) = ended.map_err(io::Error::other)?;
        early.insert(at, response.unwrap_or_else(|fault| trouble(&fault)));
        while let Some(response) = early.remove(&told.len()) {
            steps.send(&Response::One(Box::new(response.clone()))).await?;
            told.push(response);
        }
    }
    Ok(told)
}
