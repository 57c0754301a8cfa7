//! `plan new`: an agent drafts a plan, and it is written once a person has approved it.

use super::act::act;
use super::limits::tell_limits;
use super::plan::{Draft, listed, place};
use super::session::{absolute, check_answer, sayable};
use super::{Out, ask, file, say, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words::{self, limits};
use glis_client::{Client, Fault, Streamed};
use glis_config::{regular, whole};
use glis_core::plan::TaskSpec;
use glis_core::refusal::LineFault;
use glis_core::{Refusal, Status, name};
use glis_plan::{BYTES_MAX, Plan, asking_again, asking_for, draft_in};
use glis_wire::client::{Action, NewSession, Request, Response};
use glis_wire::home::Home;
use glis_wire::view::{Entry, SessionView, Voice, WaitingFor};
use serde_json::{Value, json};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// So many names are tried for the session that drafts: each is lost to one that has it.
const NAMINGS: u32 = 100;

/// So many daemons may die while a draft is waited for: more than that is no accident.
const LOST_MAX: u32 = 20;

pub(super) fn new(wanted: Draft, out: &Out) -> Result<(), Complaint> {
    let target = Target::find(place(None)?, wanted.replace)?;
    let approval = match (wanted.yes, io::stdin().is_terminal()) {
        (true, _) => Approval::Given,
        (false, true) => Approval::Asked,
        (false, false) => {
            let why = "a plan that an agent has drafted has to be approved before it is written";
            return Err(Complaint::new(Kind::Usage, why).hint("add --yes"));
        }
    };
    let mut control = control::connect()?;
    let session = match wanted.from.clone() {
        Some(name) => name,
        None => begin(&mut control, wanted, &target)?,
    };
    let drafting = Drafting { session, approval, target };
    while !drafting.go_on(&mut control, out)? {}
    Ok(())
}

/// Who says that a draft is to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    /// The command has said so.
    Given,
    /// The person at the terminal says so.
    Asked,
}

/// What a person says to a draft.
enum Verdict {
    Yes,
    No,
    /// The person changes it.
    Edit,
    /// It is to be changed like this.
    Otherwise(String),
}

/// Has a session begin that drafts the plan; its name.
fn begin(control: &mut Client, wanted: Draft, target: &Target) -> Result<String, Complaint> {
    let folder = target.path.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let new = NewSession {
        agent: wanted.agent,
        repo: absolute(folder)?,
        persona: wanted.persona,
        model: wanted.model,
        ..NewSession::default()
    };
    let session = drafter(control, wanted.goal.unwrap_or_default(), new)?;
    tell_limits(control, limits::crowded);
    if limits::waits(&session) {
        tell_limits(control, limits::full);
    }
    beside(&format!("session `{}` drafts a plan", session.name));
    Ok(session.name)
}

/// A session that drafts a plan for this goal, under a name that is free.
pub(super) fn drafter(
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

/// Tells a person something that is no part of the result.
fn beside(line: &str) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// A plan that is being drafted.
struct Drafting {
    session: String,
    approval: Approval,
    target: Target,
}

impl Drafting {
    /// Waits for a draft and does with it what a person says. True if it is written.
    fn go_on(&self, control: &mut Client, out: &Out) -> Result<bool, Complaint> {
        let session = self.until_said(control)?;
        let name = &session.name;
        let (mut draft, kept) = kept(control, name)?;
        loop {
            match self.decide(&draft, (name, &kept), out)? {
                Verdict::Edit => match edited(&kept) {
                    Ok(text) => draft = text,
                    Err(fault) => beside(&fault.to_string()),
                },
                verdict @ (Verdict::Yes | Verdict::No | Verdict::Otherwise(_)) => {
                    return self.carry_out(control, verdict, (name, &draft, &kept), out);
                }
            }
        }
    }

    /// What is to become of a draft.
    fn decide(
        &self,
        draft: &str,
        (name, kept): (&str, &Path),
        out: &Out,
    ) -> Result<Verdict, Complaint> {
        match (Plan::read(draft), self.approval) {
            (Ok(plan), approval) => {
                show(draft, &plan, out)?;
                self.verdict(approval)
            }
            (Err(faults), Approval::Given) => {
                let why = format!("the draft is no plan:\n{}", told(kept, &faults));
                Err(Complaint::new(Kind::Failed, why).hint(later(name, kept)))
            }
            (Err(faults), Approval::Asked) => {
                beside(&format!("the draft is no plan:\n{}", told(kept, &faults)));
                otherwise("What is to be different? (e: edit it; nothing: leave it) ")
            }
        }
    }

    /// Does with a draft what a person says. True if it is written.
    fn carry_out(
        &self,
        control: &mut Client,
        verdict: Verdict,
        (name, draft, kept): (&str, &str, &Path),
        out: &Out,
    ) -> Result<bool, Complaint> {
        match verdict {
            Verdict::Yes => {
                let former = self.target.write(control.home(), name, draft)?;
                let path = &self.target.path;
                let document = written(control, name, path, (kept, former.as_deref()));
                out.document(&document, || words::plan::written(path, former.as_deref()))?;
                Ok(true)
            }
            Verdict::No => {
                let why = format!("nothing was written; the draft is kept in {}", kept.display());
                Err(Complaint::new(Kind::Refused, why).hint(later(name, kept)))
            }
            // Done before.
            Verdict::Edit => Ok(false),
            Verdict::Otherwise(words) => {
                let action = Action::Send { text: asking_again(&words), files: Vec::new() };
                ask(control, Request::Act { session: name.to_owned(), action })?;
                Ok(false)
            }
        }
    }

    fn verdict(&self, approval: Approval) -> Result<Verdict, Complaint> {
        let path = self.target.path.display();
        let former = if self.target.former.is_some() { ", in place of the plan there" } else { "" };
        match approval {
            Approval::Given => Ok(Verdict::Yes),
            Approval::Asked => otherwise(&format!(
                "Write this to {path}{former}? [y/N, e to edit it, or what to change] "
            )),
        }
    }

    /// Waits until the agent has said what it has to say.
    fn until_said(&self, control: &mut Client) -> Result<SessionView, Complaint> {
        loop {
            let session = self.until_still(control)?;
            let name = &session.name;
            match (session.status, session.waiting_for.clone()) {
                (Status::Waiting, Some(asked)) => self.answer(control, name, &asked)?,
                (Status::Idle | Status::Suspended | Status::Completed, _) => return Ok(session),
                (
                    Status::Created
                    | Status::Busy
                    | Status::Waiting
                    | Status::Pausing
                    | Status::Paused
                    | Status::Resuming
                    | Status::Interrupted
                    | Status::Failed
                    | Status::Archived,
                    _,
                ) => {
                    let why = format!("no plan was drafted: {}", words::is(&session));
                    return Err(Complaint::new(Kind::Failed, why).hint(format!(
                        "`glis show {name}` tells more; `glis resume {name}` goes on, then `glis plan new \
                         --from {name}`"
                    )));
                }
            }
        }
    }

    /// Waits until it does not go on by itself. A daemon that dies meanwhile is started again.
    fn until_still(&self, control: &mut Client) -> Result<SessionView, Complaint> {
        let still = |status: &Status| match status {
            Status::Created | Status::Busy | Status::Pausing | Status::Resuming => false,
            Status::Idle
            | Status::Waiting
            | Status::Paused
            | Status::Suspended
            | Status::Interrupted
            | Status::Completed
            | Status::Failed
            | Status::Archived => true,
        };
        let statuses: Vec<Status> = Status::ALL.into_iter().filter(still).collect();
        let session = self.session.clone();
        let request = Request::Wait { session, statuses, timeout_ms: None };
        let mut lost = 0;
        loop {
            match ask(control, request.clone()) {
                Ok(Response::Session(session)) => return Ok(*session),
                Ok(_) => return Err(unexpected()),
                Err(complaint) if complaint.kind == Kind::NoDaemon && lost < LOST_MAX => {
                    lost += 1;
                    *control = control::connect()?;
                }
                Err(complaint) => return Err(complaint),
            }
        }
    }

    /// Has the person at the terminal answer what the agent asks.
    fn answer(
        &self,
        control: &mut Client,
        name: &str,
        asked: &WaitingFor,
    ) -> Result<(), Complaint> {
        let question = words::ask::asks(name, asked);
        if self.approval == Approval::Given {
            let why = format!("session `{name}` asks: {question}");
            return Err(Complaint::new(Kind::Refused, why)
                .hint(format!("answer it, then `glis plan new --from {name} --yes`")));
        }
        let answer = line(&format!("{question}\nanswer: "))?;
        let request = Some(asked.request.clone());
        // A slip of the pen is asked about again.
        if let Err(complaint) = check_answer(control, name, request.as_deref(), &answer) {
            beside(&complaint.text());
            return Ok(());
        }
        act(control, name, Action::Answer { ask: request, answer, reason: None }).map(drop)
    }
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
fn kept(control: &mut Client, name: &str) -> Result<(String, PathBuf), Complaint> {
    let draft = found(control, name)?;
    let kept = keep(control.home(), &format!("{name}.toml"), &draft)?;
    Ok((draft, kept))
}

/// A session whose draft is written has nothing more to do; a message wakes it. What is printed of that.
fn written(
    control: &mut Client,
    name: &str,
    path: &Path,
    (kept, former): (&Path, Option<&Path>),
) -> Value {
    act(control, name, Action::Stop).ok();
    json!({"path": path, "session": name, "draft": kept, "former": former})
}

/// The draft in the last words of a session, for a face that shows it before it is approved, and what
/// is wrong with it.
pub(super) fn drafted(control: &mut Client, name: &str) -> Result<Value, Complaint> {
    let draft = found(control, name)?;
    let faults = Plan::read(&draft).err().unwrap_or_default();
    Ok(json!({"session": name, "draft": draft, "faults": listed(&faults)}))
}

/// Writes the draft in the last words of a session, which is approved. What is printed of that. Where the
/// person has looked at another one than it is now, nothing is written.
pub(super) fn take(
    control: &mut Client,
    name: &str,
    target: &Target,
    seen: Option<&str>,
) -> Result<Value, Complaint> {
    let (draft, kept) = kept(control, name)?;
    if seen.is_some_and(|seen| seen != draft) {
        let why = format!("session `{name}` has drafted another plan meanwhile");
        return Err(Complaint::new(Kind::Refused, why).hint("look at that one first"));
    }
    if let Err(faults) = Plan::read(&draft) {
        let why = format!("the draft is no plan:\n{}", told(&kept, &faults));
        return Err(Complaint::new(Kind::Failed, why).hint(later(name, &kept)));
    }
    let former = target.write(control.home(), name, &draft)?;
    Ok(written(control, name, &target.path, (&kept, former.as_deref())))
}

/// What can be done with a draft that was not written.
fn later(name: &str, kept: &Path) -> String {
    format!(
        "`glis send {name} TEXT` tells the agent what to change, then `glis plan new --from {name}`; or \
         mend {} and copy it to {}",
        kept.display(),
        glis_plan::FILE
    )
}

/// Reads a line from the person at the terminal.
fn line(question: &str) -> Result<String, Complaint> {
    let mut err = io::stderr().lock();
    drop(write!(err, "{question}"));
    drop(err.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|fault| Complaint::new(Kind::Usage, format!("standard input: {fault}")))?;
    Ok(line.trim().to_owned())
}

fn otherwise(question: &str) -> Result<Verdict, Complaint> {
    let said = line(question)?;
    Ok(match said.as_str() {
        "y" | "Y" | "yes" => Verdict::Yes,
        "" | "n" | "N" | "no" => Verdict::No,
        "e" | "edit" => Verdict::Edit,
        words => Verdict::Otherwise(words.to_owned()),
    })
}

/// The draft as it would be written, whole: what it runs is in it. A script has it in a file.
fn show(draft: &str, plan: &Plan, out: &Out) -> Result<(), Complaint> {
    if out.json {
        return Ok(());
    }
    let tasks: Vec<TaskSpec> = plan.tasks.iter().cloned().map(TaskSpec::from).collect();
    let tree = glis_plan::draw(plan.title.as_deref(), &tasks, |_| "\u{25cb}".to_owned());
    say(&format!("{draft}\n{}", tree.join("\n")))
}

fn told(kept: &Path, faults: &[LineFault]) -> String {
    words::plan::faults(&kept.to_string_lossy(), faults)
}

/// A draft as the person has changed it, in the place where it is kept.
fn edited(kept: &Path) -> io::Result<String> {
    glis_tty::edit(kept)?;
    text_of(kept)
}

fn text_of(path: &Path) -> io::Result<String> {
    regular::open(path).and_then(|file| regular::text(file, BYTES_MAX))
}

/// What an agent has said since it was last told something.
fn last_words(control: &mut Client, name: &str) -> Result<String, Complaint> {
    let mut said: Vec<String> = Vec::new();
    let request = Request::Log { session: name.to_owned(), follow: false };
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
pub(super) struct Target {
    path: PathBuf,
    /// What is there, and is to be replaced.
    former: Option<String>,
}

impl Target {
    pub(super) fn find(path: PathBuf, replaces: bool) -> Result<Self, Complaint> {
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
    fn write(&self, home: &Home, name: &str, draft: &str) -> Result<Option<PathBuf>, Complaint> {
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
