//! An ordered map whose copies share what they have in common: a decision takes a copy of a plan with
//! ten thousand tasks, changes three of them, and pays for three.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A balanced tree (AVL). What a change touches, the way down to one place, is copied where another
/// copy of the map has it too, and changed where it is otherwise.
pub struct SharedMap<K, V> {
    root: Link<K, V>,
    len: usize,
}

type Link<K, V> = Option<Arc<Node<K, V>>>;

struct Node<K, V> {
    /// Apart from the links, so that a way down is copied without what stands on it.
    entry: Arc<(K, V)>,
    height: u8,
    left: Link<K, V>,
    right: Link<K, V>,
}

impl<K, V> Clone for Node<K, V> {
    fn clone(&self) -> Self {
        let Self { entry, height, left, right } = self;
        Self { entry: Arc::clone(entry), height: *height, left: left.clone(), right: right.clone() }
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), len: self.len }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { root: None, len: 0 }
    }
}

impl<K, V> SharedMap<K, V> {
    /// How many it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Everything, by its key.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { above: Vec::new() };
        iter.descend(self.root.as_deref());
        iter
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, by their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> SharedMap<K, V> {
    /// What stands under a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        let mut at = self.root.as_deref();
        while let Some(node) = at {
            let (own, value) = &*node.entry;
            at = match key.cmp(own.borrow()) {
                Ordering::Less => node.left.as_deref(),
                Ordering::Greater => node.right.as_deref(),
                Ordering::Equal => return Some(value),
            };
        }
        None
    }

    /// Whether something stands under a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: std::borrow::Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Puts something under a key. True if nothing stood there.
    pub fn insert(&mut self, key: K, value: V) -> bool {
        let added = insert(&mut self.root, Arc::new((key, value)));
        self.len += usize::from(added);
        added
    }

    /// Takes away what stands under a key. True if something did.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: std::borrow::Borrow<Q>,
    {
        // A way down is copied only for something.
        let there = self.contains_key(key);
        if there {
            remove(&mut self.root, key);
            self.len -= 1;
        }
        there
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// What stands under a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: std::borrow::Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        let mut at = self.root.as_mut();
        while let Some(link) = at {
            let node = Arc::make_mut(link);
            match key.cmp(node.entry.0.borrow()) {
                Ordering::Less => at = node.left.as_mut(),
                Ordering::Greater => at = node.right.as_mut(),
                Ordering::Equal => return Some(&mut Arc::make_mut(&mut node.entry).1),
            }
        }
        None
    }
}

/// Goes through a map by its keys.
pub struct Iter<'m, K, V> {
    /// Those that come before all that is above them.
    above: Vec<&'m Node<K, V>>,
}

impl<'m, K, V> Iter<'m, K, V> {
    fn descend(&mut self, mut at: Option<&'m Node<K, V>>) {
        while let Some(node) = at {
            self.above.push(node);
            at = node.left.as_deref();
        }
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.above.pop()?;
        self.descend(node.right.as_deref());
        Some((&node.entry.0, &node.entry.1))
    }
}

impl<'m, K, V> IntoIterator for &'m SharedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for SharedMap<K, V> {}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SharedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: Serialize, V: Serialize> Serialize for SharedMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self)
    }
}

impl<'de, K, V> Deserialize<'de> for SharedMap<K, V>
where
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(from).map(|map| map.into_iter().collect())
    }
}

fn height<K, V>(link: &Link<K, V>) -> u8 {
    link.as_deref().map_or(0, |node| node.height)
}

impl<K, V> Node<K, V> {
    fn measure(&mut self) {
        self.height = 1 + height(&self.left).max(height(&self.right));
    }
}

fn insert<K: Ord, V>(link: &mut Link<K, V>, entry: Arc<(K, V)>) -> bool {
    let Some(shared) = link else {
        *link = Some(Arc::new(Node { entry, height: 1, left: None, right: None }));
        return true;
    };
    let node = Arc::make_mut(shared);
    let added = match entry.0.cmp(&node.entry.0) {
        Ordering::Less => insert(&mut node.left, entry),
        Ordering::Greater => insert(&mut node.right, entry),
        Ordering::Equal => {
            node.entry = entry;
            false
        }
    };
    balance(link);
    added
}

fn remove<K, V, Q>(link: &mut Link<K, V>, key: &Q)
where
    K: Ord + std::borrow::Borrow<Q>,
    Q: Ord + ?Sized,
{
    let Some(shared) = link else { return };
    let node = Arc::make_mut(shared);
    match key.cmp(node.entry.0.borrow()) {
        Ordering::Less => remove(&mut node.left, key),
        Ordering::Greater => remove(&mut node.right, key),
        Ordering::Equal => match (node.left.take(), node.right.take()) {
            (None, other) | (other, None) => *link = other,
            (left, mut right) => {
                if let Some(first) = take_first(&mut right) {
                    node.entry = first;
                }
                (node.left, node.right) = (left, right);
            }
        },
    }
    balance(link);
}

/// Takes away what comes first.
fn take_first<K, V>(link: &mut Link<K, V>) -> Option<Arc<(K, V)>> {
    let node = Arc::make_mut(link.as_mut()?);
    if node.left.is_none() {
        let first = Arc::clone(&node.entry);
        let right = node.right.take();
        *link = right;
        return Some(first);
    }
    let first = take_first(&mut node.left);
    balance(link);
    first
}

/// Neither side is ever higher than the other by more than one.
fn balance<K, V>(link: &mut Link<K, V>) {
    let Some(shared) = link else { return };
    let node = Arc::make_mut(shared);
    let (left, right) = (height(&node.left), height(&node.right));
    if left > right + 1 {
        if let Some(left) = &mut node.left {
            let leans_in = height(&left.left) < height(&left.right);
            if leans_in {
                rotate_left(&mut node.left);
            }
        }
        rotate_right(link);
    } else if right > left + 1 {
        if let Some(right) = &mut node.right {
            let leans_in = height(&right.right) < height(&right.left);
            if leans_in {
                rotate_right(&mut node.right);
            }
        }
        rotate_left(link);
    } else {
        node.measure();
    }
}

/// Its right side takes its place.
fn rotate_left<K, V>(link: &mut Link<K, V>) {
    let Some(mut top) = link.take() else { return };
    let node = Arc::make_mut(&mut top);
    let Some(mut next) = node.right.take() else {
        *link = Some(top);
        return;
    };
    let upper = Arc::make_mut(&mut next);
    node.right = upper.left.take();
    node.measure();
    upper.left = Some(top);
    upper.measure();
    *link = Some(next);
}

/// Its left side takes its place.
fn rotate_right<K, V>(link: &mut Link<K, V>) {
    let Some(mut top) = link.take() else { return };
    let node = Arc::make_mut(&mut top);
    let Some(mut next) = node.left.take() else {
        *link = Some(top);
        return;
    };
    let upper = Arc::make_mut(&mut next);
    node.left = upper.right.take();
    node.measure();
    upper.right = Some(top);
    upper.measure();
    *link = Some(next);
}

/// Something that is shared as a whole, written down as what it is.
pub(crate) mod whole {
    use super::{Arc, Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        shared: &Arc<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        (**shared).serialize(to)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

#[cfg(test)]
mod tests;
