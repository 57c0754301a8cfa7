//! Calls to the daemon: each on a thread that may wait, for the device that asks.

use crate::guard::Caller;
use crate::places::Place;
use crate::shared::Shared;
use crate::{Performed, Told};
use glis_client::{Connector, Fault, Quiet};
use glis_wire::call::{Face, Origin, Scope};
use glis_wire::client::Request;
use glis_wire::plan::DraftWork;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

/// The exit status of the command line for a daemon that cannot be reached.
const NO_DAEMON: u8 = 8;

/// What was answered, with the place that it takes until it is sent.
pub(crate) type Answered = (Result<Performed, Told>, Place);

/// Asks the daemon. Under a key it is asked once more if it went away: what was done is not done again. A look ends
/// with its asker; a change is carried out to its end.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    caller: &Caller,
    key: Option<String>,
    request: Request,
) -> Result<Answered, Told> {
    let place = shared.calls.take(&caller.id)?;
    let connector = connector(shared, caller);
    let (perform, explain) = (shared.setup.perform, shared.setup.explain);
    let (asker, here) = asker(request.scope(), explain)?;
    let once = move |key: Option<String>, request: Request, asker: Option<UnixStream>| {
        let mut client = connector.connect(&mut Quiet).map_err(explain)?;
        if let Some(key) = key {
            client.name_next(key);
        }
        if let Some(asker) = asker {
            client = client.for_asker(asker);
        }
        perform(&mut client, request)
    };
    let call = move || {
        let told = match once(key.clone(), request.clone(), asker) {
            Err(told) if told.exit == NO_DAEMON && key.is_some() => once(key, request, None),
            told => told,
        };
        (told, place)
    };
    let answered = tokio::task::spawn_blocking(call).await.map_err(|_| broken());
    // Until then: who goes away has this dropped.
    drop(here);
    answered
}

/// Has something done with the file of a plan. It needs this scope, and has an end as [`ask`] has.
pub(crate) async fn work(
    shared: &Arc<Shared>,
    caller: &Caller,
    (key, scope): (Option<String>, Scope),
    (folder, work): (PathBuf, DraftWork),
) -> Result<Answered, Told> {
    let place = shared.calls.take(&caller.id)?;
    let connector = connector(shared, caller);
    let (work_on_draft, explain) = (shared.setup.work_on_draft, shared.setup.explain);
    let (asker, here) = asker(scope, explain)?;
    let once = move || {
        let mut client = connector.connect(&mut Quiet).map_err(explain)?;
        if let Some(key) = key {
            client.name_next(key);
        }
        if let Some(asker) = asker {
            client = client.for_asker(asker);
        }
        work_on_draft(&mut client, &folder, work)
    };
    let worked = tokio::task::spawn_blocking(move || (once(), place)).await.map_err(|_| broken());
    // Until then: who goes away has this dropped.
    drop(here);
    worked
}

/// Two ends, where something is only looked at: what waits for the first ends when the second is dropped.
fn asker(
    scope: Scope,
    explain: fn(Fault) -> Told,
) -> Result<(Option<UnixStream>, Option<UnixStream>), Told> {
    if scope > Scope::Watch {
        return Ok((None, None));
    }
    let ends = UnixStream::pair().map_err(|fault| explain(Fault::Lost(fault.to_string())))?;
    Ok((Some(ends.0), Some(ends.1)))
}

/// A way to the daemon that may do what this device may.
pub(crate) fn connector(shared: &Shared, caller: &Caller) -> Connector {
    let origin = Origin { face: Face::Web, who: caller.name.clone() };
    Connector { origin, scope: caller.scope, ..shared.setup.connector.clone() }
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
