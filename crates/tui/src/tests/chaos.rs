//! Random keys, sizes and news: nothing panics, and what is drawn stays within the screen.

use super::desk::{Desk, few};
use super::session;
use crate::chord::{Chord, Code, Held};
use crate::input::{Click, Input, Mouse};
use crate::message::{Effect, Listed, Msg, PreviewNews, Seen, Told};
use crate::model::Mode;
use crate::theme::Ground;
use glis_core::Status;
use glis_wire::client::{Action, Request};
use glis_wire::hold::Size;

/// A small generator, so that a seed plays the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }

    fn small(&mut self, end: u16) -> u16 {
        u16::try_from(self.below(u64::from(end))).unwrap_or(0)
    }
}

fn key(dice: &mut Dice) -> Chord {
    const CODES: [Code; 14] = [
        Code::Enter,
        Code::Esc,
        Code::Tab,
        Code::Backspace,
        Code::Delete,
        Code::Up,
        Code::Down,
        Code::Left,
        Code::Right,
        Code::Home,
        Code::End,
        Code::PageUp,
        Code::PageDown,
        Code::Char('日'),
    ];
    let printable = 33 + u8::try_from(dice.below(94)).unwrap_or(0);
    let code = match dice.below(3) {
        0 => CODES[usize::try_from(dice.below(14)).unwrap()],
        _ => Code::Char(char::from(printable)),
    };
    let held = Held { ctrl: dice.below(8) == 0, alt: dice.below(20) == 0, shift: false };
    Chord { code, held }
}

fn message(dice: &mut Dice, desk: &Desk) -> Msg {
    let name =
        ["fix-login", "docs", "api", "日本語", "new-one"][usize::try_from(dice.below(5)).unwrap()];
    let status = Status::ALL[usize::try_from(dice.below(12)).unwrap()];
    match dice.below(40) {
        0 => Msg::Resized { columns: dice.small(160), rows: dice.small(50) },
        1 => Msg::Seen(vec![Seen::There(Box::new(session(name, status)))]),
        2 => Msg::Seen(vec![Seen::Gone(format!("id-{name}"))]),
        3 => {
            Msg::Listed(Listed { sessions: few(), more: 0, last_seq: 9, gate: "paused".to_owned() })
        }
        4 => {
            let ticket = dice.below(desk.model.work.last_ticket + 2);
            let told =
                Told { message: "no\u{1b}[2J".to_owned(), hint: Some("日本語".repeat(40)) };
            Msg::Ended { ticket, result: Err(told) }
        }
        5 => {
            let size = Size { columns: dice.small(120), rows: dice.small(60) };
            let bytes = "\x1b[31m日本語 text\r\n".repeat(20).into_bytes();
            let session = desk.model.hand.selected.clone().unwrap_or_default();
            Msg::Preview { session, news: PreviewNews::Painted { bytes, from: 5, size } }
        }
        6 => {
            let session = desk.model.hand.selected.clone().unwrap_or_default();
            let at = dice.below(100);
            Msg::Preview {
                session,
                news: PreviewNews::Output { at, bytes: b"\x1b[5;5Hx".to_vec() },
            }
        }
        7 => {
            let what = [
                Click::Pressed,
                Click::Dragged,
                Click::Released,
                Click::WheelUp,
                Click::WheelDown,
                Click::Moved,
            ][usize::try_from(dice.below(6)).unwrap()];
            let (column, row) = (dice.small(170), dice.small(60));
            let number = dice.small(8);
            Msg::Input(Input::Mouse(Mouse { what, column, row, number }))
        }
        8 => Msg::Input(Input::Pasted("pasted\n日本\u{7}".to_owned())),
        9 => Msg::Time,
        11 => {
            let session = desk.model.hand.selected.clone().unwrap_or_default();
            let run = (format!("row 日本 {}", dice.below(9)), glis_screen::Look::default());
            let rows = usize::try_from(dice.below(200)).unwrap();
            Msg::Past { session, result: Ok(vec![vec![run]; rows]) }
        }
        10 => Msg::Lost(Told { message: "gone".to_owned(), hint: None }),
        _ => Msg::Input(Input::Key(key(dice))),
    }
}

/// What must still be so after a message.
struct Before {
    selected: Option<String>,
    /// Whom an open box is for.
    receiver: Option<String>,
    by_hand: bool,
}

impl Before {
    fn of(desk: &Desk, msg: &Msg) -> Self {
        let receiver =
            if let Mode::Send { id, .. } = &desk.model.mode { Some(id.clone()) } else { None };
        let by_hand = matches!(msg, Msg::Input(_));
        Self { selected: desk.model.hand.selected.clone(), receiver, by_hand }
    }

    /// Only a hand moves to another session, some session is in hand where there are any, and a message goes
    /// to whom its box was for.
    fn hold(&self, desk: &Desk, effects: &[Effect], seed: u64) {
        let (model, is_listed) =
            (&desk.model, |id: &String| desk.model.list.ids().any(|one| one == id));
        let stays = self.selected.as_ref().is_some_and(is_listed) && !self.by_hand;
        let inline = matches!(model.mode, Mode::Inline { .. });
        assert!(
            !stays || inline || model.hand.selected == self.selected,
            "seed {seed}: moved by itself"
        );
        assert!(
            model.hand.selected.is_some() || model.list.ids().count() == 0,
            "seed {seed}: none in hand"
        );
        for effect in effects {
            if let Effect::Call { request, .. } = effect
                && let Request::Act { session, action: Action::Send { .. } } = &**request
            {
                assert_eq!(self.receiver.as_ref(), Some(session), "seed {seed}");
            }
        }
    }
}

fn play(seed: u64, steps: u32) {
    let mut dice = Dice(seed | 1);
    let mut desk = Desk::with(few(), (80, 24), Ground::Light);
    for _ in 0..steps {
        let msg = message(&mut dice, &desk);
        let resized = matches!(msg, Msg::Resized { .. });
        let before = Before::of(&desk, &msg);
        let effects = desk.tell(msg);
        before.hold(&desk, &effects, seed);
        // A picture costs more than all the rest: every new size has one, and every twentieth key.
        if resized || dice.below(20) == 0 {
            let ms = dice.below(700);
            desk.pass(ms);
            for cell in desk.buffer().content() {
                assert!(!cell.symbol().chars().any(char::is_control), "seed {seed}: {cell:?}");
            }
        }
    }
}

#[test]
fn no_key_size_or_news_is_too_strange() {
    for seed in [1, 2, 3, 77, 4096] {
        play(seed, 20_000);
    }
    // `GLIS_SEED` plays another one, for a long time.
    if let Some(seed) = std::env::var("GLIS_SEED").ok().and_then(|seed| seed.parse().ok()) {
        play(seed, 100_000);
    }
}
