//! The guard: who comes, by which name, from which page, and with what right. It looks at the head of a
//! request alone, before anything of its body is read.

use crate::devices::{Book, Device, Kind};
use crate::hosts::{Door, Entry, Hosts};
use crate::ticket::Tickets;
use glis_wire::call::Scope;
use hyper::http::header::{AUTHORIZATION, HOST, ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use hyper::http::request::Parts;
use hyper::http::{HeaderName, Method};
use std::net::SocketAddr;

/// Set by our page and by scripts, and by no form, link or picture of another page.
const OURS: HeaderName = HeaderName::from_static("x-glis");
const TICKET: HeaderName = HeaderName::from_static("x-glis-ticket");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// What a page speaks over a WebSocket. It names its ticket behind it.
pub(crate) const PROTOCOL: &str = "glis";

/// The address that a connection came to: a server may listen on all that its machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CameTo(pub(crate) SocketAddr);

/// What a place needs of who comes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: it holds no data.
    Nothing,
    /// The page's own name, and nothing else: it holds no data either.
    Page,
    /// The page's own name, and the page itself, which brings what is looked at later.
    OwnPage,
    /// A credential with this scope.
    Scope(Scope),
}

/// What callers are known by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'k> {
    pub(crate) book: &'k Book,
    pub(crate) tickets: &'k Tickets,
    pub(crate) now: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) kind: Kind,
}

/// Who was not, in the order in which it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It came by a name that is not ours: a name that was made to point here.
    Host,
    /// Another page sent it.
    Origin,
    /// It is for the page's own name, and came by another of ours.
    Door,
    /// No credential, or one that is not known.
    Credential,
    /// A device that was not used for long.
    Expired,
    /// One that may do less.
    Scope {
        has: Scope,
        /// What it would have to.
        needs: Scope,
    },
    /// It changes something and does not say that it means it.
    NotMeant,
}

/// Lets a request in, or says why not. Who needs no credential is nobody in particular.
pub(crate) fn check(
    head: &Parts,
    hosts: &Hosts,
    known: Known<'_>,
    needs: Needs,
) -> Result<Option<Caller>, Refused> {
    let Entry { origin, door } = entry(head, hosts)?;
    check_origin(head, &origin, needs)?;
    let caller = match needs {
        Needs::Page | Needs::OwnPage if door == Door::Api => return Err(Refused::Door),
        Needs::Nothing | Needs::Page | Needs::OwnPage => None,
        Needs::Scope(needs) => {
            let device = owner(head, door, known).ok_or(Refused::Credential)?;
            if device.has_expired(known.now) {
                return Err(Refused::Expired);
            }
            let (id, name) = (device.id.clone(), device.name.clone());
            let caller = Caller { id, name, scope: device.scope, kind: device.kind };
            if caller.scope < needs {
                return Err(Refused::Scope { has: caller.scope, needs });
            }
            Some(caller)
        }
    };
    let only_looks = matches!(head.method, Method::GET | Method::HEAD);
    let meant = one(head, &OURS) == Ok(Some("1"));
    if only_looks || meant { Ok(caller) } else { Err(Refused::NotMeant) }
}

/// What stands under the name that this came by.
pub(crate) fn entry(head: &Parts, hosts: &Hosts) -> Result<Entry, Refused> {
    // A whole URL in the first line would overrule the header.
    if head.uri.authority().is_some() || head.uri.scheme().is_some() {
        return Err(Refused::Host);
    }
    let host = one(head, &HOST).map_err(|_| Refused::Host)?.ok_or(Refused::Host)?;
    let came_to = head.extensions.get().map(|CameTo(address)| *address);
    hosts.entry(host, came_to).ok_or(Refused::Host)
}

fn check_origin(head: &Parts, own: &str, needs: Needs) -> Result<(), Refused> {
    match one(head, &ORIGIN) {
        Ok(None) => {}
        Ok(Some(origin)) if origin == own => {}
        Ok(Some(_)) | Err(Several) => return Err(Refused::Origin),
    }
    // A link to the page may stand anywhere; whatever else it needs is asked for by our page alone. A page of the
    // same name on another port counts as the same site.
    let from_elsewhere = match one(head, &FETCH_SITE) {
        Ok(None | Some("same-origin" | "none")) => false,
        Ok(Some(_)) | Err(Several) => true,
    };
    match needs {
        Needs::OwnPage | Needs::Scope(_) if from_elsewhere => Err(Refused::Origin),
        Needs::Nothing | Needs::Page | Needs::OwnPage | Needs::Scope(_) => Ok(()),
    }
}

/// Whose credential this is: under the page's own name the ticket of a device, or the token of a script.
fn owner<'k>(head: &Parts, door: Door, known: Known<'k>) -> Option<&'k Device> {
    match (door, ticket(head)) {
        (Door::Page, Some(ticket)) => known.tickets.owner(known.book, ticket),
        (Door::Page, None) | (Door::Api, _) => by_token(head, known.book),
    }
}

/// The ticket of a page. It has a header of its own, as a proxy may want the usual one for itself. Those of a WebSocket a
/// page cannot set, but it names the protocols that it speaks.
fn ticket(head: &Parts) -> Option<&str> {
    let by_protocol = || {
        let (protocol, ticket) = one(head, &SEC_WEBSOCKET_PROTOCOL).ok()??.split_once(',')?;
        (protocol.trim() == PROTOCOL).then(|| ticket.trim())
    };
    one(head, &TICKET).ok()?.or_else(by_protocol)
}

/// Whose bearer token this is.
fn by_token<'b>(head: &Parts, book: &'b Book) -> Option<&'b Device> {
    let (scheme, token) = one(head, &AUTHORIZATION).ok()??.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| book.owner(Kind::Token, token.trim()))?
}

/// A header is there more than once, or is no text.
#[derive(Debug, PartialEq, Eq)]
struct Several;

/// The value of a header that may be there once.
fn one<'h>(head: &'h Parts, name: &HeaderName) -> Result<Option<&'h str>, Several> {
    let mut all = head.headers.get_all(name).iter();
    let Some(first) = all.next() else { return Ok(None) };
    match (first.to_str(), all.next()) {
        (Ok(text), None) => Ok(Some(text)),
        (Ok(_) | Err(_), _) => Err(Several),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::Front;
    use hyper::http::Request;

    const NOON: i64 = 1_800_000_000;

    struct Scene {
        hosts: Hosts,
        book: Book,
        tickets: Tickets,
        token: String,
    }

    impl Scene {
        fn known(&self) -> Known<'_> {
            Known { book: &self.book, tickets: &self.tickets, now: NOON }
        }
    }

    fn scene(scope: Scope) -> Scene {
        let hosts = Hosts::of("127.0.0.1:7717".parse().unwrap(), &Front::Plain).unwrap();
        let hosts = hosts.with_own_name("glis-7.localhost");
        let mut book = Book::default();
        let (_, token) = book.token(NOON, "ci", scope).unwrap();
        Scene { hosts, book, tickets: Tickets::new().unwrap(), token }
    }

    fn judged(
        scene: &Scene,
        line: (&str, &str),
        headers: &[(&str, &str)],
        needs: Needs,
    ) -> Result<Option<Caller>, Refused> {
        let mut request = Request::builder().method(line.0).uri(line.1);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        check(&head, &scene.hosts, scene.known(), needs)
    }

    const HERE: (&str, &str) = ("host", "glis-7.localhost:7717");
    const NUMBER: (&str, &str) = ("host", "127.0.0.1:7717");
    const WATCH: Needs = Needs::Scope(Scope::Watch);

    #[test]
    fn the_host_comes_before_all_else() {
        let scene = scene(Scope::Manage);
        let bearer = format!("Bearer {}", scene.token);
        let auth = ("authorization", bearer.as_str());
        for hosts in [&[][..], &[("host", "evil")], &[HERE, HERE], &[HERE, ("host", "evil")]] {
            let headers = [hosts, &[auth, ("origin", "null")]].concat();
            assert_eq!(judged(&scene, ("GET", "/"), &headers, WATCH), Err(Refused::Host));
        }
        let absolute = ("GET", "http://evil/api/v1/sessions");
        assert_eq!(judged(&scene, absolute, &[HERE, auth], WATCH), Err(Refused::Host));
        assert!(judged(&scene, ("GET", "/"), &[HERE, auth], WATCH).unwrap().is_some());
    }

    #[test]
    fn on_all_addresses_the_one_that_was_come_to_counts() {
        let pair = crate::tls::Pair { certificate: "c".into(), key: "k".into() };
        let hosts = Hosts::of("0.0.0.0:443".parse().unwrap(), &Front::Tls { pair, name: None });
        let (hosts, known) = (hosts.unwrap(), scene(Scope::Watch));
        let come_to = |to: &str, host: &str| {
            let request = Request::builder().uri("/").header("host", host);
            let (mut head, ()) = request.body(()).unwrap().into_parts();
            head.extensions.insert(CameTo(to.parse().unwrap()));
            check(&head, &hosts, known.known(), Needs::Page)
        };
        assert_eq!(come_to("192.0.2.7:443", "192.0.2.7"), Ok(None));
        assert_eq!(come_to("192.0.2.7:443", "192.0.2.8"), Err(Refused::Host));
        assert_eq!(come_to("192.0.2.7:443", "evil"), Err(Refused::Host));
    }

    #[test]
    fn another_page_is_told_by_its_origin_or_its_site() {
        let scene = scene(Scope::Manage);
        let own = "http://glis-7.localhost:7717";
        let good = judged(&scene, ("GET", "/"), &[HERE, ("origin", own)], Needs::Page);
        assert_eq!(good, Ok(None));
        for origin in
            ["null", "http://evil", "http://glis-7.localhost:7718", "https://glis-7.localhost:7717"]
        {
            let headers = [HERE, ("origin", origin)];
            let refused = judged(&scene, ("GET", "/"), &headers, Needs::Nothing);
            assert_eq!(refused, Err(Refused::Origin), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            let headers = [HERE, ("sec-fetch-site", site)];
            for needs in [WATCH, Needs::OwnPage] {
                assert_eq!(judged(&scene, ("GET", "/x"), &headers, needs), Err(Refused::Origin));
            }
            assert_eq!(judged(&scene, ("GET", "/"), &headers, Needs::Page), Ok(None));
        }
        // The page and the server have one name: a page of `localhost` is another one.
        let headers = [HERE, ("origin", "http://localhost:7717")];
        assert_eq!(judged(&scene, ("GET", "/"), &headers, WATCH), Err(Refused::Origin));
    }

    #[test]
    fn a_credential_then_its_scope_then_whether_it_is_meant() {
        let scene = scene(Scope::Send);
        let bearer = format!("bearer {}", scene.token);
        let auth = ("authorization", bearer.as_str());
        let post = ("POST", "/api/v1/x");
        assert_eq!(judged(&scene, post, &[HERE], WATCH), Err(Refused::Credential));
        for wrong in ["", "Bearer", "Bearer x", "Basic x"] {
            let headers = [HERE, ("authorization", wrong)];
            assert_eq!(judged(&scene, post, &headers, WATCH), Err(Refused::Credential));
        }
        let manage = Needs::Scope(Scope::Manage);
        let beyond = Refused::Scope { has: Scope::Send, needs: Scope::Manage };
        assert_eq!(judged(&scene, post, &[HERE, auth], manage), Err(beyond));
        assert_eq!(judged(&scene, post, &[HERE, auth], WATCH), Err(Refused::NotMeant));
        let meant = [HERE, auth, ("x-glis", "1")];
        assert_eq!(judged(&scene, post, &meant, WATCH).unwrap().unwrap().name, "ci");
    }

    /// A device that was paired at noon: its secret, and its ticket.
    fn paired(scene: &mut Scene) -> (String, String) {
        let code = scene.book.offer(NOON, "phone", Scope::Watch).unwrap();
        let paired = scene.book.redeem(NOON, &code).unwrap();
        (paired.secret, scene.tickets.of(&paired.device))
    }

    #[test]
    fn a_ticket_counts_as_a_header_and_as_a_protocol_and_neither_secret_nor_cookie_does() {
        let mut scene = scene(Scope::Manage);
        let (secret, ticket) = paired(&mut scene);
        let line = ("GET", "/");
        let protocols = format!("glis, {ticket}");
        let (header, protocol) = ("x-glis-ticket", "sec-websocket-protocol");
        for good in [(header, &ticket), (protocol, &protocols)] {
            let caller = judged(&scene, line, &[HERE, (good.0, good.1)], WATCH).unwrap().unwrap();
            assert_eq!((caller.name.as_str(), caller.kind), ("phone", Kind::Browser));
        }
        let [by_ticket, by_secret] = [&ticket, &secret].map(|given| format!("Bearer {given}"));
        let cookie = format!("glis-7717={ticket}; glis={secret}");
        for wrong in [
            ("authorization", by_ticket.as_str()),
            ("authorization", &by_secret),
            ("cookie", &cookie),
            (header, &secret),
            (header, &scene.token),
            (protocol, &ticket),
            (protocol, &format!("other, {ticket}")),
        ] {
            let refused = judged(&scene, line, &[HERE, wrong], WATCH);
            assert_eq!(refused, Err(Refused::Credential), "{wrong:?}");
        }
        // A wrong ticket is not made good by a right token.
        let bearer = format!("Bearer {}", scene.token);
        let both = [HERE, (header, "x"), ("authorization", &bearer)];
        assert_eq!(judged(&scene, line, &both, WATCH), Err(Refused::Credential));
    }

    #[test]
    fn at_the_number_a_token_counts_and_no_ticket_page_or_code() {
        let mut scene = scene(Scope::Manage);
        let (_, ticket) = paired(&mut scene);
        let (bearer, line) = (format!("Bearer {}", scene.token), ("GET", "/"));
        let by_token = judged(&scene, line, &[NUMBER, ("authorization", &bearer)], WATCH);
        assert_eq!(by_token.unwrap().unwrap().name, "ci");
        let by_ticket = judged(&scene, line, &[NUMBER, ("x-glis-ticket", &ticket)], WATCH);
        assert_eq!(by_ticket, Err(Refused::Credential));
        for needs in [Needs::Page, Needs::OwnPage] {
            assert_eq!(judged(&scene, line, &[NUMBER], needs), Err(Refused::Door));
        }
        assert_eq!(judged(&scene, line, &[NUMBER], Needs::Nothing), Ok(None));
    }
}
