//! How much may be under way at once: in all, and for one device, so that none keeps the others out.

use glis_verbs::{Complaint, Kind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for something that takes a while.
pub(crate) struct Places {
    all: Arc<Semaphore>,
    each_max: usize,
    /// Those of devices that have taken any.
    each: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// One of them, until it is dropped.
pub(crate) struct Place {
    _of_all: OwnedSemaphorePermit,
    _of_device: OwnedSemaphorePermit,
}

impl Places {
    /// So many in all, and so many for one device.
    pub(crate) fn new(all: usize, each_max: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), each_max, each: Mutex::default() }
    }

    /// Takes one for a device.
    pub(crate) fn take(&self, device: &str) -> Result<Place, Complaint> {
        let own = {
            let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
            each.retain(|_, own| own.available_permits() < self.each_max);
            let own = || Arc::new(Semaphore::new(self.each_max));
            Arc::clone(each.entry(device.to_owned()).or_insert_with(own))
        };
        let of_device = own.try_acquire_owned();
        let of_all = Arc::clone(&self.all).try_acquire_owned();
        match (of_all, of_device) {
            (Ok(of_all), Ok(of_device)) => Ok(Place { _of_all: of_all, _of_device: of_device }),
            (Err(_), _) | (_, Err(_)) => {
                Err(Complaint::new(Kind::Crowded, "too much is asked for at once")
                    .hint("try again in a moment"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_has_all_of_its_places_leaves_others_theirs() {
        let places = Places::new(5, 3);
        let mut taken: Vec<Place> = (0..3).map(|_| places.take("a").unwrap()).collect();
        assert!(places.take("a").is_err());
        let others: Vec<Place> = (0..2).map(|_| places.take("b").unwrap()).collect();
        assert!(places.take("b").is_err(), "there are five in all");
        taken.pop();
        drop(others);
        assert!(places.take("a").is_ok());
        drop(taken);
        drop(places.take("c"));
        assert!(places.each.lock().unwrap().len() <= 1, "who has none is forgotten");
    }
}
