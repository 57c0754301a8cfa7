//! Making a session: its persona, its agent, where it begins, its id and its name. One function for
//! everything that makes one. What cannot be made is refused with the way out.

pub(crate) mod budget;
mod choices;
pub(crate) mod looped;
pub(crate) mod wrong;

use crate::common::Common;
use crate::environments::{Caller, Env};
use crate::jobs::Jobs;
use crate::mailbox::{Mailbox, Query};
use crate::pools::Kind;
use crate::program;
use budget::Tells;
use glis_agent::{Ability, Agent};
use glis_config::{Config, Persona};
use glis_core::decision::Reply;
use glis_core::looping::LoopSpec;
use glis_core::name;
use glis_core::plan::TaskRef;
use glis_core::spec::{IDLE_TIMEOUT_SECS, IdleLimit, Mode, RefOrigin, Spec};
use glis_core::{Command, Input, OpId, Origin, Refusal, SessionId};
use glis_snapshot::GitFault;
use glis_wire::client::NewSession;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wrong::{Wrong, wrong};

/// The agents that are looked for where none is named, in this order.
const USUAL_AGENTS: [&str; 4] = ["claude", "codex", "opencode", "gemini"];

/// The persona of those who name none.
const USUAL_PERSONA: &str = "default";
/// What is told of a file with a fault.
const FORMER: &str = "the former configuration is used";

/// So many branches are named where a base is not there.
const BRANCHES_SHOWN: usize = 8;

/// So many names that were made are tried in a row: each is lost to a session that was faster.
const NAMINGS: u32 = 5;

/// A session that is being made.
pub(crate) struct Created {
    pub(crate) id: SessionId,
    /// The operation that makes it, unless that is over already.
    pub(crate) op: Option<OpId>,
    /// What was chosen where nothing was said.
    pub(crate) notes: Vec<String>,
}

/// Why no session is made.
pub(crate) enum NotCreated {
    Refused(Refusal),
    /// What is wanted cannot be, and the way out.
    Unusable {
        message: String,
        hint: String,
    },
    /// Every name that was made was taken by another session meanwhile.
    NoName,
    Ending,
}

impl From<Wrong> for NotCreated {
    fn from(Wrong { message, hint }: Wrong) -> Self {
        Self::Unusable { message, hint }
    }
}

pub(crate) struct Creator {
    pub(crate) common: Arc<Common>,
    pub(crate) mailbox: Mailbox,
    pub(crate) jobs: Arc<Jobs>,
}

impl Creator {
    /// Makes a session, as `caller` would start it. It is on record when this returns; its end is
    /// that of the operation.
    pub(crate) async fn create(
        &self,
        wanted: &NewSession,
        caller: Option<&Caller>,
        from: Option<&Origin>,
    ) -> Result<Created, NotCreated> {
        for _ in 0..NAMINGS {
            let (id, command, notes) =
                self.command_for(wanted, caller.map(|caller| &caller.env), None).await?;
            if let Some(caller) = caller {
                self.common.environments.remember(&id, caller.clone());
            }
            let op = match self.mailbox.ask(Input::Command(command), from.cloned()).await {
                Some(Ok(Reply::Pending(op))) => Some(op),
                Some(Ok(
                    Reply::Done
                    | Reply::Already
                    | Reply::Queued { .. }
                    | Reply::Deferred
                    | Reply::Gate { .. },
                )) => None,
                Some(Err(Refusal::NameTaken { .. })) if wanted.name.is_none() => continue,
                Some(Err(refusal)) => return Err(NotCreated::Refused(refusal)),
                None => return Err(NotCreated::Ending),
            };
            return Ok(Created { id, op, notes });
        }
        Err(NotCreated::NoName)
    }

    /// Who works in it: the agent and the persona, as they were asked for or are chosen where nothing was said.
    fn cast(&self, wanted: &NewSession, env: Option<&Env>) -> Result<Cast, Wrong> {
        // What was just changed must not be left out without a word.
        let fault = self.common.settings.fault();
        let former = fault.map(|fault| format!("{fault}; until that is fixed {FORMER}"));
        let config = self.common.settings.now();
        let persona_name = persona_name(wanted, &config);
        let persona = config.persona(persona_name.as_deref()).map_err(|message| {
            let file = self.common.home.config_file();
            let makes = || format!("[persona.NAME] in {} makes one", file.display());
            wrong(message, former.clone().unwrap_or_else(makes))
        })?;
        let (agent_name, chosen) = self.choose_agent(wanted, &persona, env)?;
        let notes: Vec<String> = former.into_iter().chain(chosen).collect();
        let agent = glis_agent::find(&agent_name).ok_or_else(|| no_such_agent(&agent_name))?;
        let mode = if wanted.headless { Mode::Headless } else { agent.usual_mode() };
        let argv = [persona.args.clone(), wanted.argv.clone()].concat();
        agent.check(mode, &argv).map_err(|message| {
            wrong(message, "`glis help new` lists the options; what follows `--` goes to the agent")
        })?;
        looped::check(wanted, agent, mode)?;
        if persona.system_prompt.is_some() && !agent.takes_instructions() {
            let message =
                format!("{agent_name} takes no system prompt; leave it out of the persona");
            return Err(wrong(message, "claude and codex take one"));
        }
        Ok(Cast { agent_name, agent, persona_name, persona, mode, argv, notes })
    }

    /// Why a session like this could not run, as far as that can be known before it is made.
    pub(crate) fn in_the_way(&self, wanted: &NewSession, env: Option<&Env>) -> Option<String> {
        let cast = match self.cast(wanted, env) {
            Ok(cast) => cast,
            Err(Wrong { message, .. }) => return Some(message),
        };
        let name = cast.agent_name;
        let is_missing = |env: &Env| program::find(&name, env, Path::new(&wanted.repo)).is_err();
        let is_missing = USUAL_AGENTS.contains(&name.as_str()) && env.is_some_and(is_missing);
        is_missing.then(|| format!("the agent `{name}` is not installed"))
    }

    /// Whether the agent of a session like this tells what it costs.
    pub(crate) fn tells_cost(&self, wanted: &NewSession, env: Option<&Env>) -> bool {
        self.cast(wanted, env).is_ok_and(|cast| cast.agent.tells_cost(cast.mode))
    }

    /// Why every turn of a session like this would fail: nobody is logged in. In a thread that may block.
    pub(crate) fn not_logged_in(&self, wanted: &NewSession, env: &Env) -> Option<String> {
        let Cast { agent_name, agent, argv, .. } = self.cast(wanted, Some(env)).ok()?;
        let place = Path::new(&wanted.repo);
        let found = program::native(agent, program::find(&agent_name, env, place).ok()?);
        match program::can_work(agent, &found, &argv, place, env) {
            Ability::Able | Ability::Unknown => None,
            Ability::NotLoggedIn { words, next } => Some(format!("{agent_name}: {words}; {next}")),
        }
    }

    /// The command that makes it, and what was chosen where nothing was said.
    pub(crate) async fn command_for(
        &self,
        wanted: &NewSession,
        env: Option<&Env>,
        task: Option<TaskRef>,
    ) -> Result<(SessionId, Command, Vec<String>), NotCreated> {
        // The name is judged before git or anything else sees it.
        if let Some(name) = &wanted.name {
            name::check(name)
                .map_err(|why| NotCreated::Refused(Refusal::BadName { name: name.clone(), why }))?;
        }
        let Cast { agent_name, agent, persona_name, persona, mode, argv, notes } =
            self.cast(wanted, env)?;
        let config = self.common.settings.now();
        let site = if wanted.in_place { Site::InPlace } else { Site::Worktree };
        let repo_root = self.root_of(PathBuf::from(&wanted.repo), site).await?;
        // A revision means what it means where the caller stands, not at the repository's root.
        let base = self.base_of(PathBuf::from(&wanted.repo), wanted.base.clone(), site).await?;
        let (base, base_branch) = (base.commit, base.branch);
        let (looped, prompt) = self.iterating(wanted, site).await?;
        let traits = agent.traits(mode, &argv);
        let tells = Tells::of(agent, mode, &argv);
        let budget = budget::of(wanted.budget.as_deref(), config.budget.session, tells)?;
        let id = SessionId(uuid::Uuid::now_v7().to_string());
        let name = match &wanted.name {
            Some(name) => name.clone(),
            None => self.made_name(wanted, &agent_name).await,
        };
        let mut spec = Spec {
            agent: agent_name,
            mode,
            traits,
            repo_root,
            in_place: wanted.in_place,
            base,
            base_branch,
            task: task.map(Box::new),
            argv,
            prompt,
            model: wanted.model.clone().or(persona.model),
            persona: persona_name,
            system_prompt: persona.system_prompt,
            permission_mode: persona.permission_mode,
            idle_timeout_secs: IDLE_TIMEOUT_SECS,
            idle: IdleLimit::Usual,
            auto_yes: wanted.auto_yes || config.auto_yes.enabled,
            remove_worktree: wanted.remove_worktree,
            keep_process: wanted.keep_process,
            looped: looped.map(Box::new),
            budget,
        };
        spec.limit_idle(match wanted.idle_timeout_secs {
            None => IdleLimit::Usual,
            Some(0) => IdleLimit::Never,
            Some(secs) => IdleLimit::Secs(secs),
        });
        let agent_ref = fresh_ref(traits.refs);
        let command = Command::New { id: id.clone(), name, spec: Box::new(spec), agent_ref };
        Ok((id, command, notes))
    }

    /// The agent that was asked for; without one, a program after `--`, what the configuration says, or
    /// the first that is installed for the caller.
    fn choose_agent(
        &self,
        wanted: &NewSession,
        persona: &Persona,
        env: Option<&Env>,
    ) -> Result<(String, Vec<String>), Wrong> {
        let named = wanted.agent.as_ref().or(persona.agent.as_ref());
        let configured = self.common.settings.now().default_agent.clone();
        if let Some(agent) = named {
            return Ok((agent.clone(), Vec::new()));
        }
        if !wanted.argv.is_empty() {
            return Ok(("command".to_owned(), Vec::new()));
        }
        if let Some(agent) = configured {
            return Ok((agent, Vec::new()));
        }
        let file = self.common.home.config_file();
        match first_installed(env, Path::new(&wanted.repo)) {
            Some(agent) => {
                let note = format!(
                    "its agent is {agent}, the first one found on your PATH; --agent, or default_agent \
                     in {}, chooses another",
                    file.display()
                );
                Ok((agent.to_owned(), vec![note]))
            }
            None => Err(wrong(
                format!(
                    "no agent is installed: none of {} is on your PATH",
                    USUAL_AGENTS.join(", ")
                ),
                "install one, such as `npm install --global @anthropic-ai/claude-code`; `--agent \
                 rehearsal` needs none, and `-- PROGRAM` runs any program",
            )),
        }
    }

    /// What a loop is to be, and what it is told: the prompt, or what a file has it do.
    async fn iterating(
        &self,
        wanted: &NewSession,
        site: Site,
    ) -> Result<(Option<LoopSpec>, Option<String>), Wrong> {
        let Some(given) = wanted.spec_file.clone() else {
            return Ok((wanted.looped.clone(), wanted.prompt.clone()));
        };
        let place = PathBuf::from(&wanted.repo);
        let found = self.jobs.ask(Kind::Look, move || {
            // The one that the caller stands in, which need not be the main one.
            let top = match site {
                Site::InPlace => place,
                Site::Worktree => {
                    glis_snapshot::git::roots(&place).map_or(place, |roots| roots.top)
                }
            };
            looped::file(&given, &top)
        });
        let mut file = found.await.map_err(panicked)??;
        if site == Site::InPlace {
            file.from = None;
        }
        let words = looped::words(&file);
        let spec = wanted.looped.clone().map(|spec| LoopSpec { file: Some(file), ..spec });
        Ok((spec, Some(words)))
    }

    /// A name that no living session has: from the prompt, else from the program or the agent.
    async fn made_name(&self, wanted: &NewSession, agent: &str) -> String {
        let program = wanted.argv.first().filter(|_| agent == "command");
        let program = program.and_then(|path| Path::new(path).file_name()?.to_str());
        let from = |words: Option<&str>| words.and_then(name::made_from);
        let base = from(wanted.prompt.as_deref()).or_else(|| from(program));
        let base = base.unwrap_or_else(|| agent.to_owned());
        let living = self.mailbox.query(Query::Living).await;
        let taken = |name: &String| living.iter().any(|session| session.name == *name);
        let mut names = (1..=u32::MAX).map(|n| name::numbered(&base, n));
        names.find(|name| !taken(name)).unwrap_or(base)
    }

    async fn root_of(&self, dir: PathBuf, site: Site) -> Result<String, Wrong> {
        let found = self.jobs.ask(Kind::Look, move || {
            let dir = dir.canonicalize().map_err(|fault| {
                wrong(format!("{}: {fault}", dir.display()), "--repo names a folder that is there")
            })?;
            if !dir.is_dir() {
                let message = format!("{} is not a folder", dir.display());
                return Err(wrong(message, "--repo names a folder of the repository"));
            }
            if site == Site::InPlace {
                return unfit(&dir).map_or(Ok(dir), Err);
            }
            let roots = glis_snapshot::git::roots(&dir);
            roots.map(|roots| roots.main).map_err(|fault| match fault {
                GitFault::NotRun(_) => wrong(fault.to_string(), NO_GIT),
                GitFault::Refused { .. } | GitFault::NoRepository(_) => {
                    unfit(&dir).unwrap_or_else(|| {
                        let hint = "--repo names a folder in a git repository; `git init` makes one, \
                                    and --in-place needs none";
                        wrong(fault.to_string(), hint)
                    })
                }
            })
        });
        let root = found.await.map_err(panicked)??;
        root.into_os_string().into_string().map_err(|_| {
            wrong("the path of the repository is not valid UTF-8", "move it to another folder")
        })
    }

    async fn base_of(&self, dir: PathBuf, base: Option<String>, site: Site) -> Result<Base, Wrong> {
        if site == Site::InPlace {
            return Ok(Base::default());
        }
        let commit = move |dir: &Path| match base {
            Some(base) => glis_snapshot::worktree::commit(dir, &base)
                .map(|commit| Base { commit: Some(commit), branch: branch_of(dir, &base) })
                .map_err(|fault| wrong(fault.to_string(), bases(dir))),
            None => match glis_snapshot::worktree::commit(dir, "HEAD") {
                Ok(commit) => Ok(Base { commit: Some(commit), branch: current_branch(dir) }),
                Err(fault @ GitFault::NotRun(_)) => Err(wrong(fault.to_string(), NO_GIT)),
                // A repository without a commit has none to begin from.
                Err(GitFault::Refused { .. } | GitFault::NoRepository(_)) => Ok(Base::default()),
            },
        };
        let found = self.jobs.ask(Kind::Look, move || commit(&dir)).await;
        found.map_err(panicked)?
    }
}

/// Who works in a session.
struct Cast {
    agent_name: String,
    agent: &'static dyn Agent,
    persona_name: Option<String>,
    persona: Persona,
    mode: Mode,
    argv: Vec<String>,
    /// What a person is told of what was chosen.
    notes: Vec<String>,
}

#[derive(Default)]
struct Base {
    /// None in a repository without a commit, and in place.
    commit: Option<String>,
    /// The branch that this is, if it is one.
    branch: Option<String>,
}

/// The branch that a revision names, if it names one.
fn branch_of(dir: &Path, base: &str) -> Option<String> {
    let name = base.strip_prefix("refs/heads/").unwrap_or(base);
    if name == "HEAD" {
        return current_branch(dir);
    }
    let found = glis_snapshot::tip(dir, name).ok().flatten();
    found.map(|_| name.to_owned())
}

/// The branch that is checked out where the caller stands.
pub(crate) fn current_branch(dir: &Path) -> Option<String> {
    let asked = ["symbolic-ref", "--quiet", "--short", "HEAD"];
    glis_snapshot::git::run(dir, &asked).ok().filter(|name| !name.is_empty())
}

/// The persona that a session gets: the one that was asked for, or else the one called `default`. That
/// one is for agents: a program gets no arguments of it, and another agent than its own gets none.
fn persona_name(wanted: &NewSession, config: &Config) -> Option<String> {
    let usual = || {
        let (name, persona) = config.persona.get_key_value(USUAL_PERSONA)?;
        let fits = match (wanted.agent.as_deref(), persona.agent.as_deref()) {
            (Some(agent), Some(own)) => agent == own,
            (Some(agent), None) => agent != "command",
            (None, _) => wanted.argv.is_empty(),
        };
        fits.then(|| name.clone())
    };
    wanted.persona.clone().or_else(usual)
}

/// The agent of those who name none, where the configuration has none either.
fn first_installed(env: Option<&Env>, place: &Path) -> Option<&'static str> {
    let env = env?;
    USUAL_AGENTS.into_iter().find(|name| program::find(name, env, place).is_ok())
}

fn no_such_agent(name: &str) -> Wrong {
    let known: Vec<_> = glis_agent::table().iter().map(|(name, _)| *name).collect();
    wrong(
        format!("there is no agent {name:?}; known are {}", known.join(", ")),
        format!("`--agent` takes one of them; `-- {name}` runs a program of that name"),
    )
}

/// What to do where git cannot be run at all.
const NO_GIT: &str = "git has to be installed, and the system needs a process to spare for it";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    Worktree,
    InPlace,
}

fn panicked(fault: String) -> Wrong {
    wrong(fault, "`glis doctor` looks for what is wrong")
}

/// Why a repository that is there cannot be worked in.
fn unfit(dir: &Path) -> Option<Wrong> {
    let shown = dir.display();
    match glis_snapshot::git::run(dir, &["rev-parse", "--is-bare-repository"]) {
        Ok(said) if said == "true" => Some(wrong(
            format!(
                "{shown} is a bare repository, which has no files to work on; clone it, or make a \
                 worktree of it with `git worktree add`, and name that"
            ),
            format!("`git clone {shown}`, and --repo names the clone"),
        )),
        // The last line of what git says then is the way out.
        Err(GitFault::Refused { message, .. }) if message.contains("safe.directory") => {
            Some(wrong(
                format!(
                    "{shown} belongs to another user, so git does not touch it; if you trust it: {}",
                    message.trim()
                ),
                "or clone it into a folder of your own",
            ))
        }
        Ok(_) | Err(_) => None,
    }
}

/// What a session could begin from instead: the branches that were worked on last.
fn bases(dir: &Path) -> String {
    let latest = ["for-each-ref", "--sort=-committerdate", "--format=%(refname:short)"];
    let count = format!("--count={BRANCHES_SHOWN}");
    let asked = [&latest[..], &[count.as_str(), "refs/heads", "refs/tags"]].concat();
    let names = glis_snapshot::git::run(dir, &asked).unwrap_or_default();
    let names: Vec<_> = names.lines().filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return "the repository has no commit yet; leave out --base".to_owned();
    }
    format!("--base takes a commit, a branch or a tag, such as {}", names.join(", "))
}

/// A fresh id for an agent that takes the one it is given.
pub(crate) fn fresh_ref(origin: RefOrigin) -> Option<String> {
    (origin == RefOrigin::Chosen).then(|| uuid::Uuid::new_v4().to_string())
}
