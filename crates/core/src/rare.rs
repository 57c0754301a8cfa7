//! What most sessions have nothing of: it takes a pointer where there is none, and reads as nothing.

use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Something that is usually as it is by default, and is not kept then.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Rare<T>(Option<Box<T>>);

/// What can be rare: its default stands in for all that are not kept.
pub trait Seldom: Default + PartialEq + 'static {
    fn nothing() -> &'static Self;
}

impl<T: Seldom> Rare<T> {
    /// Lets go of what has become as it usually is.
    pub(crate) fn tidy(&mut self) {
        self.0.take_if(|kept| **kept == *T::nothing());
    }
}

impl<T: Seldom> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(kept) => kept,
            None => T::nothing(),
        }
    }
}

impl<T: Seldom> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Seldom> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Seldom + Eq> Eq for Rare<T> {}
