//! Where the server may listen, and the names that it answers to.

use std::net::{IpAddr, SocketAddr};

/// Where it listens if nothing else is said.
pub const USUAL: &str = "127.0.0.1:7717";

/// The names by which a browser may come, each with the scheme that its pages have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    /// As a `Host` header has them.
    local: Vec<String>,
    /// The name that a proxy with TLS serves us under.
    public: Option<String>,
    port: u16,
}

/// Why it does not listen there.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPlace {
    /// Everybody in the network could read along.
    #[error("{0} can be reached from other machines, and what goes there is not encrypted")]
    NotLoopback(IpAddr),
    /// It could be anything.
    #[error("`{0}` is no name of a host")]
    BadName(String),
}

impl Hosts {
    /// The names for this place. Another machine comes only through a proxy that has TLS.
    pub(crate) fn of(address: SocketAddr, public: Option<&str>) -> Result<Self, BadPlace> {
        if let Some(name) = public {
            let plain =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
            if name.is_empty() || !name.chars().all(plain) {
                return Err(BadPlace::BadName(name.to_owned()));
            }
        } else if !address.ip().is_loopback() {
            return Err(BadPlace::NotLoopback(address.ip()));
        }
        let port = address.port();
        let with_port = |name: String| if port == 80 { name } else { format!("{name}:{port}") };
        let own = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        // A place that listens to the whole network is spoken to by its public name only.
        let local = if address.ip().is_loopback() {
            vec![with_port(own), with_port("localhost".to_owned())]
        } else {
            Vec::new()
        };
        Ok(Self { local, public: public.map(str::to_ascii_lowercase), port })
    }

    /// Where the page is.
    pub(crate) fn url(&self) -> String {
        match (&self.public, self.local.first()) {
            (Some(name), _) => format!("https://{name}/"),
            (None, Some(host)) => format!("http://{host}/"),
            (None, None) => String::new(),
        }
    }

    /// The origin of pages that were served under this `Host`; none if we are not that host.
    pub(crate) fn origin(&self, host: &str) -> Option<String> {
        let host = host.to_ascii_lowercase();
        if self.local.contains(&host) {
            return Some(format!("http://{host}"));
        }
        let public = self.public.as_ref().filter(|name| **name == host);
        public.map(|name| format!("https://{name}"))
    }

    /// The name of our cookie. Cookies know no ports: two servers on one machine would take each
    /// other's.
    pub(crate) fn cookie(&self) -> String {
        if self.public.is_some() { "__Host-glis".to_owned() } else { format!("glis-{}", self.port) }
    }

    /// What a browser is told about the cookie.
    pub(crate) fn cookie_rules(&self) -> &'static str {
        if self.public.is_some() {
            "; Path=/; HttpOnly; SameSite=Strict; Secure"
        } else {
            "; Path=/; HttpOnly; SameSite=Strict"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str, public: Option<&str>) -> Result<Hosts, BadPlace> {
        Hosts::of(address.parse().unwrap(), public)
    }

    #[test]
    fn only_our_own_names_have_an_origin() {
        let ours = hosts("127.0.0.1:7717", None).unwrap();
        assert_eq!(ours.url(), "http://127.0.0.1:7717/");
        assert_eq!(ours.origin("127.0.0.1:7717").unwrap(), "http://127.0.0.1:7717");
        assert_eq!(ours.origin("LOCALHOST:7717").unwrap(), "http://localhost:7717");
        for other in ["", "127.0.0.1", "127.0.0.1:7718", "evil", "evil:7717", "127.0.0.1.:7717"] {
            assert_eq!(ours.origin(other), None, "{other:?}");
        }
        assert_eq!(hosts("[::1]:80", None).unwrap().url(), "http://[::1]/");
    }

    #[test]
    fn other_machines_come_through_a_proxy_or_not_at_all() {
        assert!(matches!(hosts("0.0.0.0:7717", None), Err(BadPlace::NotLoopback(_))));
        assert!(matches!(hosts("192.0.2.1:80", None), Err(BadPlace::NotLoopback(_))));
        assert!(matches!(hosts("127.0.0.1:1", Some("a/b")), Err(BadPlace::BadName(_))));
        let behind = hosts("127.0.0.1:7717", Some("Desk.example")).unwrap();
        assert_eq!(behind.url(), "https://desk.example/");
        assert_eq!(behind.origin("desk.example").unwrap(), "https://desk.example");
        assert_eq!(behind.origin("127.0.0.1:7717").unwrap(), "http://127.0.0.1:7717");
        assert_eq!(hosts("0.0.0.0:1", Some("x")).unwrap().origin("0.0.0.0:1"), None);
    }
}
