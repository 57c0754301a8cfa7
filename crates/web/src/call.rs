//! Calls to the daemon: each on a thread that may wait, for the device that asks.

use crate::guard::Caller;
use crate::shared::Shared;
use crate::{Performed, Told};
use glis_client::{Connector, Quiet};
use glis_wire::call::{Face, Origin};
use glis_wire::client::Request;
use glis_wire::plan::PlanWork;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// The exit status of the command line for a daemon that cannot be reached.
const NO_DAEMON: u8 = 8;

/// Asks the daemon. Under a key it is asked once more if it went away: what was done is not done again.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    caller: &Caller,
    key: Option<String>,
    request: Request,
) -> Result<Performed, Told> {
    let place = place(shared)?;
    let connector = connector(shared, caller);
    let (perform, explain) = (shared.setup.perform, shared.setup.explain);
    let once = move |key: Option<String>, request: Request| {
        let mut client = connector.connect(&mut Quiet).map_err(explain)?;
        if let Some(key) = key {
            client.name_next(key);
        }
        perform(&mut client, request)
    };
    let call = move || {
        let _place = place;
        let told = once(key.clone(), request.clone());
        match told {
            Err(told) if told.exit == NO_DAEMON && key.is_some() => once(key, request),
            told => told,
        }
    };
    tokio::task::spawn_blocking(call).await.unwrap_or_else(|_| Err(broken()))
}

/// Has something done with the file of a plan.
pub(crate) async fn work(
    shared: &Arc<Shared>,
    caller: &Caller,
    key: Option<String>,
    (folder, work): (PathBuf, PlanWork),
) -> Result<Performed, Told> {
    let place = place(shared)?;
    let connector = connector(shared, caller);
    let (work_on_plan, explain) = (shared.setup.work_on_plan, shared.setup.explain);
    let call = move || {
        let _place = place;
        let mut client = connector.connect(&mut Quiet).map_err(explain)?;
        if let Some(key) = key {
            client.name_next(key);
        }
        work_on_plan(&mut client, &folder, work)
    };
    tokio::task::spawn_blocking(call).await.unwrap_or_else(|_| Err(broken()))
}

/// A way to the daemon that may do what this device may.
pub(crate) fn connector(shared: &Shared, caller: &Caller) -> Connector {
    let origin = Origin { face: Face::Web, who: caller.name.clone() };
    Connector { origin, scope: caller.scope, ..shared.setup.connector.clone() }
}

/// One of the calls that may be under way.
pub(crate) fn place(shared: &Shared) -> Result<OwnedSemaphorePermit, Told> {
    Arc::clone(&shared.calls).try_acquire_owned().map_err(|_| Told {
        exit: NO_DAEMON,
        kind: "busy".to_owned(),
        message: "too much is asked for at once".to_owned(),
        hint: Some("try again in a moment".to_owned()),
    })
}

/// A fault of ours took the call down.
pub(crate) fn broken() -> Told {
    Told {
        exit: 1,
        kind: "failed".to_owned(),
        message: "the call was not carried out to its end".to_owned(),
        hint: Some("look before you try again: it may have been done".to_owned()),
    }
}
