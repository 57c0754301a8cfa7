//! A plan that an agent drafts: found in what it said, kept, and written once it is approved.

use crate::plan::{faults as faults_of, place_in, place_of};
use crate::say::sayable;
use crate::{Complaint, Kind, Performed, file, unexpected};
use glis_client::{Client, Fault, Streamed};
use glis_config::{regular, whole};
use glis_core::plan::TaskSpec;
use glis_core::refusal::LineFault;
use glis_core::{Refusal, name};
use glis_plan::{BYTES_MAX, Plan, asking_for, draft_in, draw};
use glis_wire::client::{Action, NewSession, Request, Response};
use glis_wire::home::Home;
use glis_wire::plan::DraftWork;
use glis_wire::view::{Entry, SessionView, Voice};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// So many names are tried for the session that drafts: each is lost to one that has it.
const NAMINGS: u32 = 100;

/// What became of a plan that was asked for.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum NewPlan {
    /// This session drafts it.
    Begun(Box<SessionView>),
    Written(Written),
}

/// A draft that is the plan of its repository by now.
#[derive(Serialize, JsonSchema)]
pub struct Written {
    path: PathBuf,
    /// The session that has drafted it.
    session: String,
    /// Where the draft is kept.
    draft: PathBuf,
    /// Where the plan is kept that was there before.
    former: Option<PathBuf>,
}

/// The draft of a plan.
#[derive(Serialize, JsonSchema)]
pub struct Drafted {
    session: String,
    draft: String,
    /// Its tasks as a tree, if it is a plan.
    tree: Option<String>,
    faults: Vec<LineFault>,
}

/// Does something with a draft of the plan of the repository that a folder is in, as `plan new` does.
pub(crate) fn work_on(
    control: &mut Client,
    folder: &Path,
    work: DraftWork,
) -> Result<Performed, Complaint> {
    let path = place_in(folder)?;
    match work {
        DraftWork::Begin { goal, agent, persona, model } => {
            let (repo, _) = place_of(Some(path))?;
            let new = NewSession { agent, repo, persona, model, ..NewSession::default() };
            let session = drafter(control, goal, new)?;
            Ok(json!(NewPlan::Begun(Box::new(session))).into())
        }
        DraftWork::Look { session } => Ok(json!(drafted(control, &session)?).into()),
        DraftWork::Take { session, replace, seen, text } => {
            let target = Target::find(path, replace)?;
            let written = take(control, &session, &target, (seen, text))?;
            Ok(json!(NewPlan::Written(written)).into())
        }
    }
}

/// A session that drafts a plan for this goal, under a name that is free.
pub fn drafter(
    control: &mut Client,
    goal: String,
    new: NewSession,
) -> Result<SessionView, Complaint> {
    let goal = sayable(goal)?;
    let new = NewSession { prompt: Some(sayable(asking_for(&goal))?), headless: true, ..new };
    let slug = name::made_from(&goal);
    let slug = slug.map_or_else(|| "plan".to_owned(), |slug| format!("plan-{slug}"));
    for n in 1..=NAMINGS {
        let named = NewSession { name: Some(name::numbered(&slug, n)), ..new.clone() };
        let made = match control.call(Request::New(Box::new(named))) {
            Err(Fault::Refused(Refusal::NameTaken { .. })) => continue,
            Err(Fault::Refused(refusal)) => return Err(Complaint::of_new(refusal)),
            made => made?,
        };
        let Response::Made { session, .. } = made else { return Err(unexpected()) };
        return Ok(*session);
    }
    Err(Complaint::new(Kind::Refused, format!("{NAMINGS} sessions are called {slug}"))
        .hint("`glis rm NAME` puts those that are done into the trash"))
}

/// The draft in the last words of a session.
fn found(control: &mut Client, name: &str) -> Result<String, Complaint> {
    draft_in(&last_words(control, name)?).ok_or_else(|| {
        let why = format!("session `{name}` has told no plan");
        Complaint::new(Kind::Failed, why).hint(format!(
            "`glis log {name}` shows what it says; `glis send {name} TEXT` tells it more, then \
             `glis plan new --from {name}`"
        ))
    })
}

/// The draft in the last words of a session, and where it is kept.
pub fn kept(control: &mut Client, name: &str) -> Result<(String, PathBuf), Complaint> {
    let draft = found(control, name)?;
    let kept = keep(control.home(), &format!("{name}.toml"), &draft)?;
    Ok((draft, kept))
}

/// A session whose draft is written has nothing more to do; a message wakes it. What is printed of that.
pub fn written(
    control: &mut Client,
    name: &str,
    path: &Path,
    (kept, former): (&Path, Option<&Path>),
) -> Written {
    let stop = Request::Act { session: name.to_owned(), action: Action::Stop };
    control.call(stop).ok();
    let (path, session) = (path.to_owned(), name.to_owned());
    Written { path, session, draft: kept.to_owned(), former: former.map(Path::to_owned) }
}

/// The draft in the last words of a session, for a face that shows it before it is approved, and what
/// is wrong with it.
fn drafted(control: &mut Client, name: &str) -> Result<Drafted, Complaint> {
    let draft = found(control, name)?;
    let (tree, faults) = match Plan::read(&draft) {
        Ok(plan) => (Some(tree(&plan)), Vec::new()),
        Err(faults) => (None, faults),
    };
    Ok(Drafted { session: name.to_owned(), draft, tree, faults })
}

/// A plan that nobody has begun, as a tree.
pub fn tree(plan: &Plan) -> String {
    let tasks: Vec<TaskSpec> = plan.tasks.iter().cloned().map(TaskSpec::from).collect();
    draw(plan.title.as_deref(), &tasks, |_| "\u{25cb}".to_owned()).join("\n")
}

/// Writes the draft in the last words of a session, which is approved. What is printed of that. Where the
/// person has looked at another one than it is now, nothing is written.
fn take(
    control: &mut Client,
    name: &str,
    target: &Target,
    (seen, text): (Option<String>, Option<String>),
) -> Result<Written, Complaint> {
    let (draft, kept) = kept(control, name)?;
    if seen.is_some_and(|seen| seen != draft) {
        let why = format!("session `{name}` has drafted another plan meanwhile");
        return Err(Complaint::new(Kind::Refused, why).hint("look at that one first"));
    }
    // What a person has written is theirs to mend.
    let kind = if text.is_some() { Kind::Usage } else { Kind::Failed };
    let draft = text.unwrap_or(draft);
    if let Err(faults) = Plan::read(&draft) {
        let why = format!("the draft is no plan:\n{}", told(&kept, &faults));
        return Err(Complaint::new(kind, why).hint(later(name, &kept)));
    }
    let former = target.write(control.home(), name, &draft)?;
    Ok(written(control, name, &target.path, (&kept, former.as_deref())))
}

/// What can be done with a draft that was not written.
pub fn later(name: &str, kept: &Path) -> String {
    format!(
        "`glis send {name} TEXT` tells the agent what to change, then `glis plan new --from {name}`; or \
         mend {} and copy it to {}",
        kept.display(),
        glis_plan::FILE
    )
}

pub fn told(kept: &Path, faults: &[LineFault]) -> String {
    faults_of(&kept.to_string_lossy(), faults)
}

pub fn text_of(path: &Path) -> io::Result<String> {
    regular::open(path).and_then(|file| regular::text(file, BYTES_MAX))
}

/// What an agent has said since it was last told something.
fn last_words(control: &mut Client, name: &str) -> Result<String, Complaint> {
    let mut said: Vec<String> = Vec::new();
    let request = Request::Log { session: name.to_owned(), follow: false, from: None };
    control.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::Entry(Entry { voice, content, .. })) = streamed {
            match voice {
                Voice::User => said.clear(),
                Voice::Assistant => said.push(content),
                Voice::System | Voice::Tool => {}
            }
        }
        Ok::<(), Complaint>(())
    })?;
    Ok(said.join("\n"))
}

/// Keeps a text where drafts are kept.
fn keep(home: &Home, name: &str, text: &str) -> Result<PathBuf, Complaint> {
    let path = home.plan_drafts().join(name);
    file::keep(&path, text).map_err(|fault| {
        let why = format!("cannot write {}: {fault}", path.display());
        Complaint::new(Kind::Failed, why)
            .hint("the draft is in the session's words: `glis log` shows it")
    })?;
    Ok(path)
}

/// Where the plan is to be written.
#[derive(Debug)]
pub struct Target {
    pub path: PathBuf,
    /// What is there, and is to be replaced.
    pub former: Option<String>,
}

impl Target {
    pub fn find(path: PathBuf, replaces: bool) -> Result<Self, Complaint> {
        let former = present(&path)?;
        if former.is_some() && !replaces {
            let why = format!("{} is there already", path.display());
            return Err(Complaint::new(Kind::Refused, why).hint(
                "`--replace` has it drafted anew and keeps this one; `glis plan add` adds a task",
            ));
        }
        Ok(Self { path, former })
    }

    /// Writes the plan, if what was there is what is there. Where the former one is kept.
    pub fn write(
        &self,
        home: &Home,
        name: &str,
        draft: &str,
    ) -> Result<Option<PathBuf>, Complaint> {
        let changed = || {
            let why = format!("{} has changed meanwhile; nothing was written", self.path.display());
            Complaint::new(Kind::Refused, why).hint(format!(
                "`glis plan new --from {name} --replace` puts the draft in its place"
            ))
        };
        if present(&self.path)? != self.former {
            return Err(changed());
        }
        let kept = match &self.former {
            Some(former) => Some(keep(home, &format!("{name}.former.toml"), former)?),
            None => None,
        };
        let written = match &self.former {
            Some(_) => whole::replace(&self.path, draft),
            None => whole::create(&self.path, draft),
        };
        written.map_err(|fault| {
            if fault.kind() == io::ErrorKind::AlreadyExists {
                return changed();
            }
            Complaint::new(Kind::Failed, format!("cannot write {}: {fault}", self.path.display()))
                .hint(format!("nothing was changed; `glis plan new --from {name}` tries again"))
        })?;
        Ok(kept)
    }
}

/// The file as it is; what cannot be read is not taken for nothing.
fn present(path: &Path) -> Result<Option<String>, Complaint> {
    match std::fs::symlink_metadata(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(_) | Err(_) => {
            let failed = |fault: io::Error| {
                Complaint::new(Kind::Failed, format!("cannot read {}: {fault}", path.display()))
            };
            text_of(path).map(Some).map_err(failed)
        }
    }
}
