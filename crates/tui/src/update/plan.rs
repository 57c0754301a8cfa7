//! The box that a plan is executed from: read when it is opened, and again for another file.

use super::acts::{ask, refuses};
use super::{fields, repository};
use crate::chord::Chord;
use crate::keymap::{leaves_box, submits};
use crate::message::{Effect, Told};
use crate::model::{Mode, Model, PlanBox, PlanField, Reading, Sure};
use glis_wire::plan::PlanFile;

/// Opens it for the repository of the session in hand, else the one that we were started in.
pub(super) fn open(model: &mut Model) {
    let hint = "start glis inside one: a plan belongs to it";
    let Some(repo) = repository(model, hint) else { return };
    model.notice = None;
    let mut form = Box::new(PlanBox::of(repo, model.repositories()));
    read(model, &mut form);
    model.mode = Mode::Plan(form);
}

fn read(model: &mut Model, form: &mut PlanBox) {
    match form.repository() {
        Ok(repo) => {
            form.read = (repo.clone(), form.file.text().trim().to_owned());
            form.reading = Reading::Loading;
            model.effects.push(Effect::ReadPlan { repo, file: form.read.1.clone() });
        }
        Err(why) => (form.field, form.fault) = (PlanField::Repository, Some(why)),
    }
}

/// A plan was read. What was asked for before another file or repository was named is too late.
pub(super) fn arrived(
    model: &mut Model,
    read: &(String, String),
    result: Result<Box<PlanFile>, Told>,
) {
    let Mode::Plan(form) = &mut model.mode else { return };
    if form.read == *read {
        form.reading = result.into();
    }
}

pub(super) fn press(model: &mut Model, chord: Chord, mut form: Box<PlanBox>) {
    if leaves_box(chord) {
        return;
    }
    if submits(chord) {
        return begin(model, form);
    }
    let was = form.field;
    form.fault = None;
    fields::press(&mut *form, chord);
    let names = matches!(was, PlanField::File | PlanField::Repository);
    if names && form.field != was && form.wants_another() {
        read(model, &mut form);
    }
    model.mode = Mode::Plan(form);
}

/// Asks whether it is executed, or reads it first if it is not known yet what that would be.
fn begin(model: &mut Model, mut form: Box<PlanBox>) {
    let failed = matches!(form.reading, Reading::Fault(_)) || form.repository().is_err();
    if form.wants_another() || failed {
        read(model, &mut form);
        model.mode = Mode::Plan(form);
        return;
    }
    match form.wanted() {
        Ok(Some((request, line))) => {
            if refuses(model) {
                return;
            }
            let question = form.question();
            let (request, label) = (Box::new(request), "executing the plan");
            ask(model, Sure::Call { request, line, label }, question);
        }
        Ok(None) => model.mode = Mode::Plan(form),
        Err(why) => {
            (form.field, form.fault) = (PlanField::Jobs, Some(why));
            model.mode = Mode::Plan(form);
        }
    }
}
