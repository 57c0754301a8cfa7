//! The file of a plan, which belongs to its repository: read whole, changed as a whole or not at all.

use glis_config::{regular, whole};
use glis_core::Refusal;
use glis_core::plan::Origin;
use glis_core::refusal::{PlanFileFault, PlanFileWhy};
use glis_plan::{BYTES_MAX, Change, Changes, Fault, Plan, Task};
use glis_wire::plan::{PlanChange, TaskWords};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn path_of(origin: &Origin) -> PathBuf {
    Path::new(&origin.checkout).join(&origin.file)
}

/// A plan without a fault.
pub(crate) fn read(origin: &Origin) -> Result<Plan, Refusal> {
    let text = text_of(origin).map_err(|fault| refused(origin, unread(&fault)))?;
    Plan::read(&text).map_err(|faults| refused(origin, PlanFileWhy::Faulty(faults)))
}

/// Why its file cannot be worked with.
pub(crate) fn refused(origin: &Origin, why: PlanFileWhy) -> Refusal {
    let path = path_of(origin).to_string_lossy().into_owned();
    Refusal::PlanFile(Box::new(PlanFileFault { path, why }))
}

fn unread(fault: &io::Error) -> PlanFileWhy {
    if fault.kind() == io::ErrorKind::NotFound {
        return PlanFileWhy::Missing;
    }
    PlanFileWhy::Unreadable(fault.to_string())
}

/// The text of a plan's file. What is committed there can be anything: a pipe, or a link to a device.
fn text_of(origin: &Origin) -> io::Result<String> {
    let opened = regular::open_inside(Path::new(&origin.checkout), &path_of(origin))?;
    regular::text(opened, BYTES_MAX)
}

/// Changes the file; what would not be a plan is not written.
pub(crate) fn change(origin: &Origin, wanted: &PlanChange) -> Result<(), Refusal> {
    changed(origin, wanted).map_err(|why| refused(origin, why))
}

fn changed(origin: &Origin, wanted: &PlanChange) -> Result<(), PlanFileWhy> {
    let path = path_of(origin);
    // Two changes at once both count. A disk that knows no locks is as it was.
    let _alone = path.parent().and_then(|folder| whole::lock(folder).ok());
    let text = match (text_of(origin), wanted) {
        (Err(fault), PlanChange::Add(_) | PlanChange::Propose(_))
            if fault.kind() == io::ErrorKind::NotFound =>
        {
            String::new()
        }
        (text, _) => text.map_err(|fault| unread(&fault))?,
    };
    let known = Plan::read(&text);
    let is_known = |id: &str| known.as_ref().map_or(true, |plan| plan.task(id).is_some());
    let text_then = match wanted {
        PlanChange::Add(words) => add(&text, words, &task(words)),
        PlanChange::Propose(words) => add(&text, words, &Task { proposed: true, ..task(words) }),
        PlanChange::Approve { id } if is_known(id) => glis_plan::approve(&text, id),
        PlanChange::Edit(words) if is_known(&words.id) => {
            glis_plan::edit(&text, &words.id, &changes(words))
        }
        PlanChange::Remove { id } if is_known(id) => glis_plan::remove(&text, id),
        PlanChange::Edit(TaskWords { id, .. })
        | PlanChange::Approve { id }
        | PlanChange::Remove { id } => {
            return Err(PlanFileWhy::NoTask(id.clone()));
        }
    };
    let was_plan = text.trim().is_empty() || known.is_ok();
    let why = |faults: Vec<Fault>| match (was_plan, wanted) {
        (false, _) => PlanFileWhy::Faulty(faults),
        (
            true,
            PlanChange::Add(_)
            | PlanChange::Propose(_)
            | PlanChange::Approve { .. }
            | PlanChange::Edit(_),
        ) => PlanFileWhy::BadChange(faults),
        (true, PlanChange::Remove { .. }) => PlanFileWhy::Named(faults),
    };
    let text = text_then.map_err(why)?;
    whole::replace(&path, &text).map_err(|fault| PlanFileWhy::Unwritten(fault.to_string()))
}

fn add(text: &str, words: &TaskWords, task: &Task) -> Result<String, Vec<Fault>> {
    let text = glis_plan::add(text, task)?;
    let Changes { accept_secs, max_cost, max_time, .. } = changes(words);
    let limits = Changes { accept_secs, max_cost, max_time, ..Changes::default() };
    glis_plan::edit(&text, &words.id, &limits)
}

fn task(words: &TaskWords) -> Task {
    let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Task {
        id: words.id.clone(),
        title: said(&words.title),
        prompt: said(&words.prompt),
        parent: said(&words.parent),
        needs: words.needs.clone().unwrap_or_default(),
        agent: said(&words.agent),
        persona: said(&words.persona),
        accept: said(&words.accept),
        ..Task::default()
    }
}

fn changes(words: &TaskWords) -> Changes {
    let of = |text: &Option<String>| match text.as_deref() {
        None => Change::Keep,
        Some("") => Change::Drop,
        Some(text) => Change::Set(text.to_owned()),
    };
    let needs = match words.needs.as_deref() {
        None => Change::Keep,
        Some([one]) if one.is_empty() => Change::Drop,
        Some(needs) => Change::Set(needs.to_vec()),
    };
    Changes {
        title: of(&words.title),
        prompt: of(&words.prompt),
        parent: of(&words.parent),
        needs,
        agent: of(&words.agent),
        persona: of(&words.persona),
        accept: of(&words.accept),
        accept_secs: of(&words.accept_secs),
        max_cost: of(&words.max_cost),
        max_time: of(&words.max_time),
    }
}
