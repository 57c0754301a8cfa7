//! Where the server may listen, and the names that it answers to.

use crate::tls::Pair;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Where it listens if nothing else is said.
pub const USUAL: &str = "127.0.0.1:7717";

/// Where browsers look for a name that ends in `.localhost`.
pub(crate) const LOOPBACKS: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// What stands between the server and who comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Front {
    /// Nothing: only this machine may come.
    Plain,
    Proxy {
        /// The name that it serves us under.
        name: String,
    },
    Tls {
        /// The certificate and its key.
        pair: Pair,
        /// The name for links, if they are not to have the address.
        name: Option<String>,
    },
}

/// The names by which a browser may come, each with the scheme that its pages have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    local: Local,
    scheme: Scheme,
    /// The name that the page has for itself on this machine, where nothing stands before it.
    own: Option<String>,
    /// The name that others know us by, always with TLS.
    public: Option<String>,
    address: SocketAddr,
}

/// What a browser that comes without a name of ours says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Local {
    /// One of these, as a `Host` header has them.
    Named(Vec<String>),
    /// The address that its connection came to, of the many that we listen on. Such a name cannot be made
    /// to point to us: it is no name.
    CameTo,
}

/// A name that a request came by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The origin that our pages have there.
    pub(crate) origin: String,
    pub(crate) door: Door,
}

/// What is served under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The page and the API: devices are paired here, and come with their tickets.
    Page,
    /// The API, for whoever has a token.
    Api,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// A name as a `Host` header has it: the usual port is left out.
    fn with_port(self, name: &str, port: u16) -> String {
        let usual = match self {
            Self::Http => 80,
            Self::Https => 443,
        };
        if port == usual { name.to_owned() } else { format!("{name}:{port}") }
    }

    /// The names of an address.
    fn names(self, address: SocketAddr) -> Vec<String> {
        // One socket may listen for both kinds of addresses, and has the older ones in the form of the newer.
        let ip = address.ip().to_canonical();
        let own = match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let names = [Some(own), ip.is_loopback().then(|| "localhost".to_owned())];
        names.iter().flatten().map(|name| self.with_port(name, address.port())).collect()
    }
}

/// Why it does not listen there.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPlace {
    /// Everybody in the network could read along.
    #[error("{0} can be reached from other machines, and what goes there is not encrypted")]
    NotLoopback(IpAddr),
    /// A browser would look for the page's name elsewhere.
    #[error("browsers find a page of this machine at 127.0.0.1 or [::1], not at {0}")]
    OtherLoopback(IpAddr),
    #[error("`{0}` is no name of a host")]
    BadName(String),
}

impl Hosts {
    /// The names for this place. Another machine comes by TLS, or not at all.
    pub(crate) fn of(address: SocketAddr, front: &Front) -> Result<Self, BadPlace> {
        let (scheme, name) = match front {
            Front::Plain => (Scheme::Http, None),
            Front::Proxy { name } => (Scheme::Http, Some(name)),
            Front::Tls { name, .. } => (Scheme::Https, name.as_ref()),
        };
        if let Some(name) = name {
            let plain =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
            if name.is_empty() || !name.chars().all(plain) {
                return Err(BadPlace::BadName(name.clone()));
            }
        }
        let ip = address.ip();
        let local = match front {
            Front::Plain if !ip.is_loopback() => return Err(BadPlace::NotLoopback(ip)),
            Front::Plain if !LOOPBACKS.contains(&ip) => return Err(BadPlace::OtherLoopback(ip)),
            // A place that listens to the whole network is spoken to by the name of its proxy only.
            Front::Proxy { .. } if !ip.is_loopback() => Local::Named(Vec::new()),
            Front::Tls { .. } if ip.is_unspecified() => Local::CameTo,
            // Both are listened on.
            Front::Plain => {
                let both = LOOPBACKS.map(|ip| scheme.names(SocketAddr::new(ip, address.port())));
                Local::Named(both.concat())
            }
            Front::Proxy { .. } | Front::Tls { .. } => Local::Named(scheme.names(address)),
        };
        // A proxy has a port of its own, and its name is given with it.
        let has_port = |name: &str| !name.ends_with(']') && name.contains(':');
        let public = name.map(|name| name.to_ascii_lowercase()).map(|name| match front {
            Front::Tls { .. } if !has_port(&name) => scheme.with_port(&name, address.port()),
            Front::Plain | Front::Proxy { .. } | Front::Tls { .. } => name,
        });
        Ok(Self { local, scheme, own: None, public, address })
    }

    /// The same, with this name for the page where it needs one: over plain HTTP, on this machine alone.
    pub(crate) fn with_own_name(mut self, name: &str) -> Self {
        let is_needed = self.public.is_none() && self.scheme == Scheme::Http;
        self.own = is_needed.then(|| self.scheme.with_port(name, self.address.port()));
        self
    }

    /// The name that the page has for itself, without a port.
    pub(crate) fn own_name(&self) -> Option<&str> {
        self.own.as_ref().and_then(|name| name.split(':').next())
    }

    /// The address that the server listens on.
    pub(crate) fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    pub(crate) fn url(&self) -> String {
        let names = match &self.local {
            Local::Named(names) => names.clone(),
            Local::CameTo => self.scheme.names(SocketAddr::new(own_address(), self.address.port())),
        };
        let scheme =
            if self.own.is_none() && self.public.is_some() { Scheme::Https } else { self.scheme };
        let name = self.own.as_ref().or(self.public.as_ref()).or(names.first());
        name.map(|name| format!("{}://{name}/", scheme.word())).unwrap_or_default()
    }

    /// What stands under this `Host` for who came to this address; none if we are not that host.
    pub(crate) fn entry(&self, host: &str, came_to: Option<SocketAddr>) -> Option<Entry> {
        let host = host.to_ascii_lowercase();
        let is_local = match &self.local {
            Local::Named(names) => names.contains(&host),
            Local::CameTo => came_to.is_some_and(|to| self.scheme.names(to).contains(&host)),
        };
        let (scheme, door) = match self.scheme {
            Scheme::Http if is_local => (self.scheme, Door::Api),
            _ if is_local || self.own.as_ref() == Some(&host) => (self.scheme, Door::Page),
            _ if self.public.as_ref() == Some(&host) => (Scheme::Https, Door::Page),
            Scheme::Http | Scheme::Https => return None,
        };
        Some(Entry { origin: format!("{}://{host}", scheme.word()), door })
    }
}

/// The address that this machine has for others. Nothing is sent: the system only looks up which of its
/// addresses it would send from.
fn own_address() -> IpAddr {
    /// Of a network that is only written about.
    const ELSEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);
    let found = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect(ELSEWHERE)?;
        socket.local_addr()
    });
    found.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |found| found.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str, front: &Front) -> Result<Hosts, BadPlace> {
        Hosts::of(address.parse().unwrap(), front)
    }

    fn proxy(name: &str) -> Front {
        Front::Proxy { name: name.to_owned() }
    }

    fn tls(name: Option<&str>) -> Front {
        let pair = Pair { certificate: "cert.pem".into(), key: "key.pem".into() };
        Front::Tls { pair, name: name.map(str::to_owned) }
    }

    /// The origin of pages under this name.
    fn origin(hosts: &Hosts, host: &str, came_to: Option<SocketAddr>) -> Option<String> {
        hosts.entry(host, came_to).map(|entry| entry.origin)
    }

    #[test]
    fn only_our_own_names_lead_in_and_the_page_has_one_of_them() {
        let ours =
            hosts("127.0.0.1:7717", &Front::Plain).unwrap().with_own_name("glis-7.localhost");
        assert_eq!(ours.url(), "http://glis-7.localhost:7717/");
        for (host, origin, door) in [
            ("glis-7.localhost:7717", "http://glis-7.localhost:7717", Door::Page),
            ("127.0.0.1:7717", "http://127.0.0.1:7717", Door::Api),
            ("[::1]:7717", "http://[::1]:7717", Door::Api),
            ("LOCALHOST:7717", "http://localhost:7717", Door::Api),
        ] {
            let entry = Entry { origin: origin.to_owned(), door };
            assert_eq!(ours.entry(host, None), Some(entry), "{host}");
        }
        for other in [
            "",
            "127.0.0.1",
            "127.0.0.1:7718",
            "evil",
            "evil:7717",
            "127.0.0.1.:7717",
            "glis-7.localhost",
            "glis-8.localhost:7717",
            "x.glis-7.localhost:7717",
        ] {
            assert_eq!(ours.entry(other, None), None, "{other:?}");
        }
        let usual = hosts("[::1]:80", &Front::Plain).unwrap().with_own_name("glis-7.localhost");
        assert_eq!(usual.url(), "http://glis-7.localhost/");
        let elsewhere = hosts("127.0.0.2:7717", &Front::Plain);
        assert!(matches!(elsewhere, Err(BadPlace::OtherLoopback(_))));
    }

    #[test]
    fn other_machines_come_through_a_proxy_or_not_at_all() {
        assert!(matches!(hosts("0.0.0.0:7717", &Front::Plain), Err(BadPlace::NotLoopback(_))));
        assert!(matches!(hosts("192.0.2.1:80", &Front::Plain), Err(BadPlace::NotLoopback(_))));
        assert!(matches!(hosts("127.0.0.1:1", &proxy("a/b")), Err(BadPlace::BadName(_))));
        let behind = hosts("127.0.0.1:7717", &proxy("Desk.example")).unwrap();
        let behind = behind.with_own_name("glis-7.localhost");
        assert_eq!(behind.entry("glis-7.localhost:7717", None), None);
        assert_eq!(behind.entry("127.0.0.1:7717", None).unwrap().door, Door::Api);
        assert_eq!(behind.entry("desk.example", None).unwrap().door, Door::Page);
        assert_eq!(behind.url(), "https://desk.example/");
        assert_eq!(origin(&behind, "desk.example", None).unwrap(), "https://desk.example");
        assert_eq!(origin(&behind, "127.0.0.1:7717", None).unwrap(), "http://127.0.0.1:7717");
        assert_eq!(hosts("0.0.0.0:1", &proxy("x")).unwrap().entry("0.0.0.0:1", None), None);
    }

    #[test]
    fn with_tls_other_machines_come_by_the_address_or_by_a_name() {
        let here = hosts("192.0.2.7:7717", &tls(None)).unwrap();
        assert_eq!(here.url(), "https://192.0.2.7:7717/");
        assert_eq!(origin(&here, "192.0.2.7:7717", None).unwrap(), "https://192.0.2.7:7717");
        assert_eq!(origin(&here, "localhost:7717", None), None);
        assert_eq!(here.entry("192.0.2.7:7717", None).unwrap().door, Door::Page);
        let named = hosts("192.0.2.7:443", &tls(Some("Desk.example"))).unwrap();
        assert_eq!(named.url(), "https://desk.example/");
        assert_eq!(origin(&named, "desk.example", None).unwrap(), "https://desk.example");
        assert_eq!(origin(&named, "192.0.2.7", None).unwrap(), "https://192.0.2.7");
        let other = hosts("127.0.0.1:7717", &tls(Some("desk.example"))).unwrap();
        assert_eq!(other.url(), "https://desk.example:7717/");
        assert!(origin(&other, "localhost:7717", None).is_some());
        let carried = hosts("127.0.0.1:7717", &tls(Some("desk.example:8443"))).unwrap();
        assert_eq!(carried.url(), "https://desk.example:8443/");
    }

    #[test]
    fn on_all_addresses_the_one_that_was_come_to_is_our_name() {
        for (all, to, own) in [
            ("0.0.0.0:7717", "192.0.2.7:7717", "192.0.2.7:7717"),
            ("[::]:7717", "[::ffff:192.0.2.7]:7717", "192.0.2.7:7717"),
            ("[::]:7717", "[2001:db8::7]:7717", "[2001:db8::7]:7717"),
        ] {
            let hosts = hosts(all, &tls(None)).unwrap();
            let to = Some(to.parse().unwrap());
            assert_eq!(origin(&hosts, own, to).unwrap(), format!("https://{own}"));
            for other in
                ["192.0.2.8:7717", "192.0.2.7", "evil:7717", "0.0.0.0:7717", "localhost:7717"]
            {
                assert_eq!(origin(&hosts, other, to), None, "{other}");
            }
            assert_eq!(origin(&hosts, own, None), None);
            let local = Some("127.0.0.1:7717".parse().unwrap());
            assert!(origin(&hosts, "localhost:7717", local).is_some());
            assert!(hosts.url().starts_with("https://") && !hosts.url().contains("0.0.0.0"));
        }
    }
}
