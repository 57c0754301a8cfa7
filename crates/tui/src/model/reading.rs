//! What is asked for when it is wanted, and is there a moment later.

use crate::message::Told;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Reading<T> {
    #[default]
    Empty,
    Loading,
    Shown(T),
    Fault(Told),
}

impl<T> Reading<T> {
    pub(crate) fn shown(&self) -> Option<&T> {
        if let Self::Shown(shown) = self { Some(shown) } else { None }
    }
}

impl<T> Reading<Vec<T>> {
    pub(crate) fn items(&self) -> &[T] {
        self.shown().map_or(&[], Vec::as_slice)
    }
}

impl<T> From<Result<T, Told>> for Reading<T> {
    fn from(result: Result<T, Told>) -> Self {
        result.map_or_else(Self::Fault, Self::Shown)
    }
}
