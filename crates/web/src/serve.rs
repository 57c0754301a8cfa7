//! The server: it listens, takes connections up to a bound, and ends when it is told to.

use crate::answer::answer;
use crate::connection::Patient;
use crate::devices::{Devices, Store};
use crate::hosts::Hosts;
use crate::hub::Hub;
use crate::shared::Shared;
use crate::verbs::told;
use crate::{Setup, Told};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

/// Browsers open six each. Who comes beyond this waits until another has gone.
const CONNECTIONS_MAX: usize = 512;
/// Calls that are under way at once. Beyond this a caller is told to come again.
const CALLS_MAX: usize = 128;
/// A browser sends its headers at once; who takes longer keeps a place from others.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// A cookie and some headers are a few kilobytes.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Before another connection is waited for, where the system has no descriptors left.
const PACE: Duration = Duration::from_millis(100);

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// An address and a port; port 0 picks one.
    pub listen: String,
    /// The name that a proxy with TLS serves us under.
    pub public_host: Option<String>,
}

/// Serves until a signal ends it. `ready` is told the URL of the page as soon as it can be opened.
pub fn serve(setup: Setup, place: &Place, ready: impl FnOnce(&str)) -> Result<(), Told> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|fault| failed("no runtime", &fault))?;
    let served = runtime.block_on(listen(setup, place, ready));
    // Calls that are under way are the daemon's: it carries them out.
    runtime.shutdown_background();
    served
}

async fn listen(setup: Setup, place: &Place, ready: impl FnOnce(&str)) -> Result<(), Told> {
    let address: SocketAddr = place.listen.parse().map_err(|_| Told {
        exit: 2,
        kind: "usage".to_owned(),
        message: format!("`{}` is no address with a port", place.listen),
        hint: Some("such as 127.0.0.1:7717".to_owned()),
    })?;
    let public = place.public_host.as_deref();
    // Looked at before anything is opened.
    names(address, public)?;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|fault| failed(&format!("cannot listen on {address}"), &fault))?;
    let bound = listener.local_addr().map_err(|fault| failed("the address", &fault))?;
    let hosts = names(bound, public)?;
    let store = Store::new(&setup.connector.home.state);
    let url = hosts.url();
    let kept = store.change(|book| {
        book.url = Some(url.clone());
        Ok(())
    });
    kept.map_err(|fault| told(&fault))?;
    let hub = Arc::new(Hub::new(setup.connector.clone(), setup.explain));
    let calls = Arc::new(Semaphore::new(CALLS_MAX));
    let shared = Arc::new(Shared { setup, hosts, devices: Devices::new(store), hub, calls });
    let ends = signals().map_err(|fault| failed("signals", &fault))?;
    ready(&url);
    tokio::select! {
        () = accept(&listener, &shared) => {}
        watched = shared.devices.watch() => {
            // Without it a device that is revoked could go on reading what it reads.
            watched.map_err(|fault| failed("the state folder cannot be watched", &fault))?;
        }
        () = ends => {}
    }
    Ok(())
}

fn names(address: SocketAddr, public: Option<&str>) -> Result<Hosts, Told> {
    Hosts::of(address, public).map_err(|bad| Told {
        exit: 2,
        kind: "usage".to_owned(),
        message: bad.to_string(),
        hint: Some(
            "listen on 127.0.0.1, or put a proxy with TLS before it and say `--behind-proxy \
             --public-host NAME`"
                .to_owned(),
        ),
    })
}

fn signals() -> io::Result<impl Future<Output = ()>> {
    let (mut end, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = end.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(shared);
                tokio::spawn(async move {
                    converse(stream, shared).await;
                    drop(place);
                });
            }
            // One that went away again, or no descriptors: the next may fare better.
            Err(_) => tokio::time::sleep(PACE).await,
        }
    }
}

/// Serves one connection to its end. How it ends is nothing to anyone.
async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    stream.set_nodelay(true).ok();
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(shared, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream)), service)
        .with_upgrades()
        .await;
    drop(served);
}

fn failed(what: &str, fault: &io::Error) -> Told {
    Told {
        exit: 1,
        kind: "failed".to_owned(),
        message: format!("{what}: {fault}"),
        hint: (fault.kind() == io::ErrorKind::AddrInUse)
            .then(|| "another `glis web` may run; `--listen` takes another port".to_owned()),
    }
}
