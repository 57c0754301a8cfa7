//! Where the server listens. A browser that is given a `.localhost` name tries both loopback addresses, so the page
//! holds both: whoever had the other one would get its visitors.

use crate::hosts::{Front, LOOPBACKS};
use glis_verbs::{Complaint, Kind};
use std::future::pending;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};

/// Ports that are tried where any will do: what is free on one address may be taken on the other.
const PORTS_MAX: usize = 16;

/// The sockets that connections come to.
pub(crate) struct Listeners {
    first: TcpListener,
    /// The other loopback address, where the page needs it and the machine has it.
    other: Option<TcpListener>,
}

impl Listeners {
    pub(crate) async fn bind(address: SocketAddr, front: &Front) -> Result<Self, Complaint> {
        let mut tried = 1;
        loop {
            let first = listen(address).await?;
            let bound = first.local_addr().map_err(|fault| failed("the address", &fault))?;
            let others = LOOPBACKS.into_iter().filter(|ip| *ip != bound.ip());
            let other = match front {
                Front::Plain => others.map(|ip| SocketAddr::new(ip, bound.port())).next(),
                // Whoever takes the name of a certificate or a proxy has not its key.
                Front::Proxy { .. } | Front::Tls { .. } => None,
            };
            let Some(other) = other else { return Ok(Self { first, other: None }) };
            match TcpListener::bind(other).await {
                Ok(other) => return Ok(Self { first, other: Some(other) }),
                Err(fault) if is_missing(&fault) => return Ok(Self { first, other: None }),
                Err(fault)
                    if fault.kind() == ErrorKind::AddrInUse
                        && address.port() == 0
                        && tried < PORTS_MAX =>
                {
                    tried += 1;
                }
                Err(fault) => return Err(other_taken(other, &fault)),
            }
        }
    }

    pub(crate) fn address(&self) -> Result<SocketAddr, Complaint> {
        self.first.local_addr().map_err(|fault| failed("the address", &fault))
    }

    pub(crate) async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let other = async {
            match &self.other {
                Some(other) => other.accept().await,
                None => pending().await,
            }
        };
        tokio::select! {
            taken = self.first.accept() => taken,
            taken = other => taken,
        }
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Complaint> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|fault| failed(&format!("cannot listen on {address}"), &fault))
}

/// Whether the machine has no such address, as one without IPv6.
fn is_missing(fault: &io::Error) -> bool {
    let no_family = Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error());
    fault.kind() == ErrorKind::AddrNotAvailable || fault.raw_os_error() == no_family
}

fn other_taken(address: SocketAddr, fault: &io::Error) -> Complaint {
    let message = format!(
        "cannot listen on {address}: {fault}; browsers look for the page there too, and would show what another \
         program serves"
    );
    Complaint::new(Kind::Failed, message)
        .hint("end the program that listens there, or take another port with `--listen`")
}

pub(crate) fn failed(what: &str, fault: &io::Error) -> Complaint {
    let told = Complaint::new(Kind::Failed, format!("{what}: {fault}"));
    if fault.kind() == ErrorKind::AddrInUse {
        return told.hint("another `glis web` may run; `--listen` takes another port");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_the_machine_has_not_is_missing_and_one_that_is_taken_is_not() {
        for (number, missing) in [
            (rustix::io::Errno::ADDRNOTAVAIL, true),
            (rustix::io::Errno::AFNOSUPPORT, true),
            (rustix::io::Errno::ADDRINUSE, false),
            (rustix::io::Errno::ACCESS, false),
        ] {
            assert_eq!(is_missing(&number.into()), missing, "{number:?}");
        }
    }
}
