//! Seeds that no run has played before, each printed, so that a failure can be repeated.

use std::hash::{BuildHasher as _, Hasher as _};

/// `count` fresh seeds; or the one that `wish` names, which is the value of `GLIS_SEED`.
pub(crate) fn fresh(wish: Option<&str>, count: usize) -> Result<Vec<u64>, String> {
    if let Some(wish) = wish {
        let seed = wish.parse().map_err(|_| format!("GLIS_SEED={wish} is no number"))?;
        return Ok(vec![seed]);
    }
    // The standard library's own randomness: no clock, no file, no package.
    let chance = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    Ok((0..count).map(|_| chance()).collect())
}
