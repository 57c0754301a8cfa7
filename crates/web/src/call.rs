//! Calls to the daemon: each on a thread that may wait, for the device that asks.

use crate::guard::Caller;
use crate::places::Place;
use crate::shared::Shared;
use glis_client::{Connector, Fault, Quiet};
use glis_verbs::{Complaint, Kind, Performed, Wanted, perform};
use glis_wire::call::{Face, Origin, Scope};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// What was answered, with the place that it takes until it is sent.
pub(crate) type Answered = (Result<Performed, Complaint>, Place);

/// Asks the daemon. Under a key it is asked once more if it went away: what was done is not done again. A look ends
/// with its asker; a change is carried out to its end.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    caller: &Caller,
    key: Option<String>,
    wanted: Wanted,
) -> Result<Answered, Complaint> {
    let place = shared.calls.take(&caller.id)?;
    let connector = connector(shared, caller);
    let (asker, here) = asker(wanted.scope())?;
    let once = move |key: Option<String>, wanted: Wanted, asker: Option<UnixStream>| {
        let mut client = connector.connect(&mut Quiet)?;
        if let Some(key) = key {
            client.name_next(key);
        }
        if let Some(asker) = asker {
            client = client.for_asker(asker);
        }
        perform(&mut client, wanted)
    };
    let call = move || {
        let told = match once(key.clone(), wanted.clone(), asker) {
            Err(told) if told.kind == Kind::NoDaemon && key.is_some() => once(key, wanted, None),
            told => told,
        };
        (told, place)
    };
    let answered = tokio::task::spawn_blocking(call).await.map_err(|_| {
        // A fault of ours took it down.
        Complaint::new(Kind::Failed, "the call was not carried out to its end")
            .hint("look before you try again: it may have been done")
    });
    // Until then: who goes away has this dropped.
    drop(here);
    answered
}

/// Two ends, where something is only looked at: what waits for the first ends when the second is dropped.
fn asker(scope: Scope) -> Result<(Option<UnixStream>, Option<UnixStream>), Complaint> {
    if scope > Scope::Watch {
        return Ok((None, None));
    }
    let ends = UnixStream::pair().map_err(|fault| Fault::Lost(fault.to_string()))?;
    Ok((Some(ends.0), Some(ends.1)))
}

/// A way to the daemon that may do what this device may.
pub(crate) fn connector(shared: &Shared, caller: &Caller) -> Connector {
    let origin = Origin::new(Face::Web, &caller.name);
    Connector { origin, scope: caller.scope, ..shared.connector.clone() }
}
