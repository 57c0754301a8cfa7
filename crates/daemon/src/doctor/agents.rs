//! Whether the agents that are installed can work.

use super::finding::finding;
use crate::environments::own_environment;
use crate::program::{can_work, find, native};
use glis_agent::{Ability, Agent, Login};
use glis_wire::view::{Finding, Health};
use std::path::Path;

/// Says who is logged in, of an agent that is installed and tells it. The environment is the daemon's own:
/// a key that only a shell has is not seen here.
pub(super) fn login(name: &str, agent: &dyn Agent) -> Option<Finding> {
    if agent.login() == Login::Untold {
        return None;
    }
    let env = own_environment();
    let home = env.iter().find(|(known, _)| known == "HOME").map_or("/", |(_, home)| home);
    let folder = Path::new(home);
    let program = native(agent, find(name, &env, folder).ok()?);
    Some(match can_work(agent, &program, &[], folder, &env) {
        Ability::Able => finding("agents", Health::Good, format!("{name} is logged in"), None),
        Ability::NotLoggedIn { words, next } => {
            let message = format!("{name}: {words}, by the environment of the daemon");
            finding("agents", Health::Warning, message, Some(next))
        }
        Ability::Unknown => {
            let message = format!("{name}: whether it is logged in, its first turn will show");
            finding("agents", Health::Good, message, None)
        }
    })
}
