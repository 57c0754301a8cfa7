//! The real agents in a house of their own: with a home and a configuration that are nobody else's,
//! and the stub model on loopback.

mod able;
mod accounts;
mod answers;
mod bare;
mod cast;
mod chat;
mod claude;
mod codex;
mod compaction;
mod early;
mod endings;
mod failing;
mod gemini;
mod idle;
mod kept;
mod limits;
mod loops;
mod manners;
mod marks;
mod night;
mod opencode;
mod overview;
mod plans;
mod restarts;
mod rules;
mod saying;
mod stories;
mod versions;

use crate::support::house::{House, Outcome};
use crate::support::skip::skip;
use glis_stub_model::installed::RealAgent;
use glis_stub_model::{Model, seed};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the agents that `cargo xtask test` has installed: a test that does not find one of these
/// fails, where it would else be left out.
const INSTALLED: &str = "GLIS_REAL_AGENTS";

/// One real agent, ready to work in a house.
pub(crate) struct Real {
    pub(crate) house: House,
    pub(crate) model: Model,
    agent: RealAgent,
    program: PathBuf,
}

impl Real {
    /// A house in which `glis` finds the agent on its path; `None`, loudly, if it is not installed.
    pub(crate) fn with(agent: RealAgent) -> Outcome<Option<Self>> {
        let Some(program) = program_of(agent)? else { return Ok(None) };
        let mut real =
            Self { house: House::of_moved_time()?, model: Model::start()?, agent, program };
        real.settle()?;
        Ok(Some(real))
    }

    /// The same with a second agent beside the first.
    pub(crate) fn with_both(agent: RealAgent, second: RealAgent) -> Outcome<Option<Self>> {
        let Some(program) = program_of(second)? else { return Ok(None) };
        let Some(mut real) = Self::with(agent)? else { return Ok(None) };
        real.install(second, &program)?;
        Ok(Some(real))
    }

    /// The home that the agent takes for the user's.
    pub(crate) fn user_home(&self) -> PathBuf {
        self.house.folder().join("user")
    }

    /// The folder that the agent takes for its own configuration.
    pub(crate) fn config(&self) -> PathBuf {
        seed::config(&self.agent, &self.user_home())
    }

    /// The agent itself, as a user would start it by hand, in `folder`.
    pub(crate) fn bare(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        // Found and ended with the house, should the test break off.
        self.house.enter(&mut command);
        command.current_dir(folder).env("PWD", folder).stdin(Stdio::null());
        command
    }

    fn settle(&mut self) -> Outcome {
        let (user, bin) = (self.user_home(), self.house.folder().join("bin"));
        std::fs::create_dir_all(&user)?;
        std::fs::create_dir_all(&bin)?;
        let path = std::env::var("PATH")?;
        self.house.surround("PATH", format!("{}:{path}", bin.display()));
        self.house.surround("HOME", user.display().to_string());
        self.house.surround("TERM", "xterm-256color");
        for name in seed::FOREIGN {
            self.house.spare(name);
        }
        self.install(self.agent, &self.program.clone())
    }

    /// Puts an agent on the path, with a configuration that names the stub.
    fn install(&mut self, agent: RealAgent, program: &Path) -> Outcome {
        let bin = self.house.folder().join("bin");
        std::os::unix::fs::symlink(program, bin.join(agent.name))?;
        // Some agents keep the trust in a folder under its real name.
        let repo = self.house.repo().canonicalize()?;
        for (name, value) in seed::plant(&agent, &self.user_home(), &repo, &self.model.url())? {
            self.house.surround(name, value);
        }
        Ok(())
    }
}

/// The program of an agent; `None`, loudly, if it is not installed.
fn program_of(agent: RealAgent) -> Outcome<Option<PathBuf>> {
    let program = agent.program();
    if program.is_none() {
        let wanted = std::env::var(INSTALLED).unwrap_or_default();
        if wanted.split(' ').any(|name| name == agent.name) {
            return Err(format!("{} was installed and is not there", agent.name).into());
        }
        let why = format!("{} {} is not installed", agent.name, agent.version);
        let known = agent.program_in(Path::new("")).is_some();
        let remedy = if known { Some("it with npm") } else { None };
        skip(&format!("{why}; `cargo xtask agents` does that"), remedy)?;
    }
    Ok(program)
}
