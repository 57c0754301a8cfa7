//! Who is connected. Whoever has shown a credential keeps the place; of the others, who could be anybody, the
//! address that has the most gives one up for each that comes, first the oldest that has said nothing.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Connections without a credential. A browser that loads the page has six.
const STRANGERS_MAX: usize = 256;
/// Connections with one. Beyond this they are served like the others.
const KNOWN_MAX: usize = 512;

/// Everybody who is connected, in the order in which they came.
#[derive(Default)]
pub(crate) struct Connections {
    all: Mutex<BTreeMap<u64, Peer>>,
    /// The number of the next one.
    next: AtomicU64,
}

struct Peer {
    from: IpAddr,
    standing: Standing,
    /// Dropped to end the connection.
    _until: oneshot::Sender<()>,
}

/// How much a connection is worth, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Silent,
    Spoken,
    Known,
}

/// A connection, for as long as it lasts.
pub(crate) struct Connection {
    connections: Arc<Connections>,
    number: u64,
}

impl Connections {
    /// Takes one in. It has to end as soon as the receiver is told that its sender is gone.
    pub(crate) fn enter(
        self: &Arc<Self>,
        from: IpAddr,
    ) -> (Arc<Connection>, oneshot::Receiver<()>) {
        let (until, gone) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut all = self.all();
        all.insert(number, Peer { from, standing: Standing::Silent, _until: until });
        if let Some(least) = superfluous(&all) {
            all.remove(&least);
        }
        drop(all);
        (Arc::new(Connection { connections: Arc::clone(self), number }), gone)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Peer>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one that is missed least, where there are too many without a credential.
fn superfluous(all: &BTreeMap<u64, Peer>) -> Option<u64> {
    let strangers = || all.iter().filter(|(_, peer)| peer.standing != Standing::Known);
    let mut counts: HashMap<IpAddr, usize> = HashMap::new();
    for (_, peer) in strangers() {
        *counts.entry(peer.from).or_default() += 1;
    }
    if counts.values().sum::<usize>() <= STRANGERS_MAX {
        return None;
    }
    let (most, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let theirs = strangers().filter(|(_, peer)| peer.from == most);
    theirs.min_by_key(|(number, peer)| (peer.standing, **number)).map(|(number, _)| *number)
}

impl Connection {
    /// It has sent a whole head.
    pub(crate) fn has_spoken(&self) {
        self.rise(Standing::Spoken);
    }

    /// It has shown a credential.
    pub(crate) fn is_known(&self) {
        self.rise(Standing::Known);
    }

    fn rise(&self, standing: Standing) {
        let mut all = self.connections.all();
        let is_known = |peer: &&Peer| peer.standing == Standing::Known;
        if standing == Standing::Known && all.values().filter(is_known).count() >= KNOWN_MAX {
            return;
        }
        if let Some(peer) = all.get_mut(&self.number) {
            peer.standing = peer.standing.max(standing);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.all().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot::error::TryRecvError;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    type Entered = (Arc<Connection>, oneshot::Receiver<()>);

    fn lives((_, gone): &mut Entered) -> bool {
        gone.try_recv() == Err(TryRecvError::Empty)
    }

    #[test]
    fn the_oldest_that_is_silent_goes_first_and_who_is_known_stays() {
        let connections = Arc::new(Connections::default());
        let mut known = connections.enter(ONE);
        known.0.is_known();
        known.0.has_spoken();
        let mut spoken = connections.enter(ONE);
        spoken.0.has_spoken();
        let mut silent: Vec<_> = (1..STRANGERS_MAX).map(|_| connections.enter(ONE)).collect();
        assert!(silent.iter_mut().all(lives));
        let mut late = connections.enter(ONE);
        let living = silent.iter_mut().map(lives).collect::<Vec<_>>();
        assert!(!living[0] && living[1..].iter().all(|lives| *lives));
        let flood: Vec<_> = (0..STRANGERS_MAX - 2).map(|_| connections.enter(ONE)).collect();
        assert!(lives(&mut known) && lives(&mut spoken) && lives(&mut late));
        drop((silent, late, flood));
        assert_eq!(connections.all().len(), 2, "who has gone takes no place");
    }

    #[test]
    fn a_crowded_address_gives_way_to_another() {
        let connections = Arc::new(Connections::default());
        let mut first = connections.enter(OTHER);
        let flood: Vec<_> = (0..2 * STRANGERS_MAX).map(|_| connections.enter(ONE)).collect();
        assert!(lives(&mut first), "it was the oldest, and the only one of its address");
        drop(flood);
    }

    #[test]
    fn beyond_their_bound_those_who_are_known_are_served_like_strangers() {
        let connections = Arc::new(Connections::default());
        let mut all: Vec<_> = (0..=KNOWN_MAX).map(|_| connections.enter(ONE)).collect();
        for (connection, _) in &all {
            connection.is_known();
        }
        let flood: Vec<_> = (0..=STRANGERS_MAX).map(|_| connections.enter(ONE)).collect();
        drop(flood);
        let living = all.iter_mut().map(lives).filter(|lives| *lives).count();
        assert!(living <= KNOWN_MAX, "{living}");
    }
}
