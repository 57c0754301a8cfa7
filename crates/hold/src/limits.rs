//! The resource limits of the command that starts an agent, which are the agent's as well.

use glis_wire::hold::Limit;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limits of a launch. A name that this version does not know is left out.
pub(crate) fn known_here(limits: &[Limit]) -> Vec<(Resource, Rlimit)> {
    let known = |limit: &Limit| {
        let (_, resource) =
            glis_wire::every_limit!(Resource).into_iter().find(|(name, _)| *name == limit.name)?;
        Some((resource, Rlimit { current: limit.soft, maximum: limit.hard }))
    };
    limits.iter().filter_map(known).collect()
}

/// Sets a limit, or the nearest that this process may set: only a privileged one may go beyond what
/// its own parent was allowed. Makes system calls only.
pub(crate) fn set(resource: Resource, wanted: &Rlimit) {
    let wanted = Rlimit { current: wanted.current, maximum: wanted.maximum };
    let (soft, hard) = (wanted.current, wanted.maximum);
    if setrlimit(resource, wanted).is_ok() {
        return;
    }
    let own = getrlimit(resource).maximum;
    let maximum = lower(hard, own);
    let nearest = Rlimit { current: lower(soft, maximum), maximum };
    // What even that does not do stays as it is inherited.
    let _ = setrlimit(resource, nearest);
}

/// The lower of two limits; none is higher than every number.
fn lower(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
