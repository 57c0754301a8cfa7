//! What a decision copies: a plan of ten thousand tasks of which it changes three, and pays for three.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An ordered map whose copies share what they have in common. A change copies the way down to one
/// place, and nothing where no other copy has it too.
pub type SharedMap<K, V> = rpds::RedBlackTreeMapSync<K, V>;

/// A map of what is shared one by one, written down as what it is.
pub(crate) mod each {
    use super::{Arc, BTreeMap, Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        shared: &BTreeMap<K, Arc<V>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(shared.iter().map(|(key, value)| (key, &**value)))
    }

    pub(crate) fn deserialize<
        'de,
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    >(
        from: D,
    ) -> Result<BTreeMap<K, Arc<V>>, D::Error> {
        let read = BTreeMap::<K, One<V>>::deserialize(from)?;
        Ok(read.into_iter().map(|(key, One(value))| (key, value)).collect())
    }

    /// Read in its own place at once: what is read into the map first leaves holes in the heap that are as large.
    #[derive(Deserialize)]
    #[serde(bound = "V: Deserialize<'de>")]
    struct One<V>(#[serde(deserialize_with = "super::whole::deserialize")] Arc<V>);
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
