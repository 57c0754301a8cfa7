//! Lists of the whole house that are read when they are opened: the trash, and what the rules have said.

use crate::message::Told;

/// A list that is read when it is opened.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Listing<T> {
    #[default]
    Loading,
    Shown(Vec<T>),
    Fault(Told),
}

impl<T> Listing<T> {
    /// What is known of it.
    pub(crate) fn items(&self) -> &[T] {
        match self {
            Self::Shown(items) => items,
            Self::Loading | Self::Fault(_) => &[],
        }
    }
}

impl<T> From<Result<Vec<T>, Told>> for Listing<T> {
    fn from(result: Result<Vec<T>, Told>) -> Self {
        result.map_or_else(Self::Fault, Self::Shown)
    }
}
