//! `plan new`: an agent drafts a plan, and it is written once a person has approved it.

use super::act::act;
use super::limits::tell_limits;
use super::plan::Draft;
use super::session::{absolute, line};
use super::{Out, ask, say};
use crate::control;
use crate::words::{self, limits};
use glis_client::Client;
use glis_core::Status;
use glis_plan::{Plan, asking_again};
use glis_verbs::draft::{Target, drafter, kept, later, text_of, told, tree, written};
use glis_verbs::plan::place;
use glis_verbs::say::check_answer;
use glis_verbs::{Complaint, Kind, unexpected};
use glis_wire::client::{Action, NewSession, Request, Response};
use glis_wire::view::{SessionView, WaitingFor};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

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
    Ok(session.row.name)
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
                Verdict::Yes => {
                    let former = self.target.write(control.home(), name, &draft)?;
                    let (path, former) = (&self.target.path, former.as_deref());
                    let document = written(control, name, path, (&kept, former));
                    out.document(&document, || words::plan::written(path, former))?;
                    return Ok(true);
                }
                Verdict::No => {
                    let place = kept.display();
                    let why = format!("nothing was written; the draft is kept in {place}");
                    return Err(Complaint::new(Kind::Refused, why).hint(later(name, &kept)));
                }
                Verdict::Otherwise(words) => {
                    let action = Action::Send { text: asking_again(&words), files: Vec::new() };
                    ask(control, Request::Act { session: name.to_owned(), action })?;
                    return Ok(false);
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
            (Ok(plan), Approval::Given) => show(draft, &plan, out).map(|()| Verdict::Yes),
            (Ok(plan), Approval::Asked) => {
                show(draft, &plan, out)?;
                let path = self.target.path.display();
                let there = self.target.former.is_some();
                let former = if there { ", in place of the plan there" } else { "" };
                otherwise(&format!(
                    "Write this to {path}{former}? [y/N, e to edit it, or what to change] "
                ))
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
        let goes_on = [Status::Created, Status::Busy, Status::Pausing, Status::Resuming];
        let still = |status: &Status| !goes_on.contains(status);
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
    say(&format!("{draft}\n{}", tree(plan)))
}

/// A draft as the person has changed it, in the place where it is kept.
fn edited(kept: &Path) -> io::Result<String> {
    glis_tty::edit(kept)?;
    text_of(kept)
}
