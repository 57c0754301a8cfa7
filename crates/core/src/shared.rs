//! What a decision copies: a plan of ten thousand tasks of which it changes three, and pays for three.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An ordered map whose copies share what they have in common. A change copies the way down to one
/// place, and nothing where no other copy has it too.
pub type SharedMap<K, V> = rpds::RedBlackTreeMapSync<K, V>;

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
