//! The mouse: ours, unless a session's own terminal has the keys and its programs have asked for it.

use super::{asking, command, inline, past, press, tabs};
use crate::chord::{Chord, Code};
use crate::input::{Click, Mouse};
use crate::message::Tab;
use crate::model::{Drag, Mode, Model};
use crate::view::{self, Target};

/// Rows that one click of the wheel goes on.
const WHEEL_ROWS: isize = 3;

pub(super) fn point(model: &mut Model, mouse: Mouse) {
    let target = view::target(model, mouse.column, mouse.row);
    if let (Mode::Inline { .. }, Some(Target::Screen { column, row }), false) =
        (&model.mode, &target, mouse.is_ours())
    {
        let place = (*column, *row);
        if inline::point(model, mouse, place) {
            return;
        }
    }
    match mouse.what {
        Click::Pressed => click(model, mouse, target),
        Click::Dragged => {
            if let Some(drag) = &mut model.drag {
                drag.to = (mouse.column, mouse.row);
            }
        }
        Click::Released => release(model),
        Click::WheelDown => wheel(model, WHEEL_ROWS, target),
        Click::WheelUp => wheel(model, -WHEEL_ROWS, target),
        Click::OtherPressed | Click::OtherReleased | Click::Moved => {}
    }
}

fn click(model: &mut Model, mouse: Mouse, target: Option<Target>) {
    model.drag = None;
    match target {
        Some(Target::Session(id)) => {
            // Who points at the list has the keys there.
            if let Mode::Inline { .. } = model.mode {
                inline::end(model);
            }
            model.hand.selected = Some(id);
        }
        Some(Target::Tab(tab)) => {
            if let Mode::Inline { .. } = model.mode {
                inline::end(model);
            }
            tabs::show_tab(model, tab);
        }
        Some(Target::Ask(id, request)) => asking::go_to(model, Some((id, request))),
        Some(Target::Keys(keys)) => {
            for chord in keys.split(' ').map_while(Chord::parse) {
                press::press(model, chord);
            }
        }
        Some(Target::Screen { .. } | Target::Detail) => {
            let place = (mouse.column, mouse.row);
            model.drag = Some(Drag { from: place, to: place });
        }
        None => {}
    }
}

/// What the mouse was drawn over is copied.
fn release(model: &mut Model) {
    let Some(drag) = model.drag.filter(|drag| drag.from != drag.to) else {
        model.drag = None;
        return;
    };
    let lines = view::text_between(model, drag);
    model.drag = None;
    super::copy(model, lines.join("\n"), lines.len());
}

fn wheel(model: &mut Model, by: isize, target: Option<Target>) {
    match (&model.mode, target) {
        (Mode::Past { .. }, _) => past::scroll(model, by),
        (Mode::List | Mode::View { .. }, Some(Target::Screen { .. } | Target::Detail)) => {
            if model.shown_tab() != Tab::Terminal {
                command::scroll(model, by);
            } else if by < 0 {
                past::begin(model, by.unsigned_abs());
            }
        }
        (Mode::List | Mode::Filter | Mode::Asks { .. }, _) => {
            command::step(model, by.signum());
        }
        (Mode::Inline { .. }, _) => {}
        _ => {
            let code = if by < 0 { Code::Up } else { Code::Down };
            press::press(model, Chord::plain(code));
        }
    }
}
