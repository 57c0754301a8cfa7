//! The server: it listens, takes whoever comes, and ends when it is told to.

use crate::answer::{HEAD_BYTES_MAX, answer};
use crate::connection::Patient;
use crate::connections::{Connection, Connections};
use crate::devices::{Devices, Store};
use crate::guard::CameTo;
use crate::hosts::{Front, Hosts};
use crate::hub::Hub;
use crate::listeners::{Listeners, failed};
use crate::places::Places;
use crate::shared::Shared;
use crate::ticket::Tickets;
use crate::tls::Tls;
use glis_client::Connector;
use glis_verbs::{Complaint, Kind};
use hyper::http::Request;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};

/// Calls that are under way at once, and those of one device. Beyond this a caller is told to come again.
const CALLS_MAX: (usize, usize) = (128, 32);
/// Connections that stay, and those of one device.
const STREAMS_MAX: (usize, usize) = (448, 256);
/// A browser sends its headers at once; who takes longer keeps a place from others.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// Before another connection is waited for, where the system has no descriptors left.
const PACE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// An address and a port; port 0 picks one.
    pub listen: String,
    pub front: Front,
}

/// Serves until a signal ends it. `ready` is told the URL of the page, and the address that is listened on, as
/// soon as it can be opened.
pub fn serve(
    connector: Connector,
    place: &Place,
    ready: &dyn Fn(&str, SocketAddr),
) -> Result<(), Complaint> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|fault| failed("no runtime", &fault))?;
    let served = runtime.block_on(listen(connector, place, ready));
    // Calls that are under way are the daemon's: it carries them out.
    runtime.shutdown_background();
    served
}

async fn listen(
    connector: Connector,
    place: &Place,
    ready: &dyn Fn(&str, SocketAddr),
) -> Result<(), Complaint> {
    // A page has one address, and a name may stand for several.
    let numeric = match place.listen.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => place.listen.clone(),
    };
    let address: SocketAddr = numeric.parse().map_err(|_| {
        Complaint::new(Kind::Usage, format!("`{}` is no address with a port", place.listen))
            .hint("such as 127.0.0.1:7717")
    })?;
    // Looked at before anything is opened.
    names(address, &place.front)?;
    let tls = match &place.front {
        Front::Tls { pair, .. } => Some(Arc::new(Tls::read(pair)?)),
        Front::Plain | Front::Proxy { .. } => None,
    };
    let listeners = Listeners::bind(address, &place.front).await?;
    let bound = listeners.address()?;
    let hosts = names(bound, &place.front)?;
    let store = Store::new(&connector.home.state);
    let hosts = store.change(|book| {
        let hosts = hosts.with_own_name(&book.host()?);
        book.note_url(hosts.url());
        Ok(hosts)
    })?;
    let url = hosts.url();
    let hub = Arc::new(Hub::new(connector.clone()));
    let (calls, streams) =
        (Places::new(CALLS_MAX.0, CALLS_MAX.1), Places::new(STREAMS_MAX.0, STREAMS_MAX.1));
    let tickets = Tickets::new().map_err(|fault| failed("no random number", &fault))?;
    let devices = Devices::new(store);
    let shared = Arc::new(Shared { connector, hosts, devices, tickets, hub, calls, streams });
    let ends = signals().map_err(|fault| failed("signals", &fault))?;
    ready(&url, bound);
    tokio::select! {
        () = accept(&listeners, tls.as_ref(), &shared) => {}
        watched = shared.devices.watch() => {
            // Without it a device that is revoked could go on reading what it reads.
            watched.map_err(|fault| failed("the state folder cannot be watched", &fault))?;
        }
        () = ends => {}
    }
    Ok(())
}

fn names(address: SocketAddr, front: &Front) -> Result<Hosts, Complaint> {
    Hosts::of(address, front).map_err(|bad| {
        Complaint::new(Kind::Usage, bad.to_string()).hint(
            "listen on 127.0.0.1, or give a certificate with `--tls-cert FILE --tls-key FILE`, or put a proxy with TLS \
             before it and say `--behind-proxy --public-host NAME`",
        )
    })
}

fn signals() -> io::Result<impl Future<Output = ()>> {
    let (mut end, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let name = tokio::select! {
            _ = end.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        // Where nobody reads it any more, the end is in order all the same.
        drop(writeln!(io::stderr(), "Received exit signal {name}"));
    })
}

async fn accept(listeners: &Listeners, tls: Option<&Arc<Tls>>, shared: &Arc<Shared>) {
    let connections = Arc::new(Connections::default());
    loop {
        match listeners.accept().await {
            Ok((stream, from)) => {
                let (shared, tls) = (Arc::clone(shared), tls.cloned());
                let (connection, gone) = connections.enter(from.ip());
                tokio::spawn(async move {
                    tokio::select! {
                        () = receive(stream, tls, shared, connection) => {}
                        _ = gone => {}
                    }
                });
            }
            // One that went away again, or no descriptors: the next may fare better.
            Err(_) => tokio::time::sleep(PACE).await,
        }
    }
}

/// Shakes hands where there is TLS, and serves. Who does not get so far in time keeps a place from others.
async fn receive(
    stream: TcpStream,
    tls: Option<Arc<Tls>>,
    shared: Arc<Shared>,
    connection: Arc<Connection>,
) {
    stream.set_nodelay(true).ok();
    let Ok(came_to) = stream.local_addr().map(CameTo) else { return };
    let Some(tls) = tls else { return converse(stream, (came_to, connection), shared).await };
    let shaken = tokio::time::timeout(HEAD_TIME, tls.acceptor().accept(stream)).await;
    if let Ok(Ok(stream)) = shaken {
        converse(stream, (came_to, connection), shared).await;
    }
}

/// Serves one connection to its end. How it ends is nothing to anyone.
async fn converse<S>(
    stream: S,
    (came_to, connection): (CameTo, Arc<Connection>),
    shared: Arc<Shared>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request| {
        let shared = Arc::clone(&shared);
        let extensions = Request::extensions_mut(&mut request);
        extensions.insert(came_to);
        extensions.insert(Arc::clone(&connection));
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
