//! What a session's programs want to be told by their terminal, for a face that types into it.

use crate::Screen;
use alacritty_terminal::term::TermMode;

/// What the programs have asked their terminal for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wants {
    /// The flags of the kitty keyboard protocol.
    pub keyboard: u8,
    /// xterm's level of telling keys apart.
    pub other_keys: u8,
    /// Cursor keys in the application's form.
    pub cursor_keys: bool,
    /// Marks around what is pasted.
    pub paste_marks: bool,
    pub mouse: MouseReports,
    /// Places of the mouse as numbers, and not as bytes.
    pub mouse_numbers: bool,
}

/// Which reports of the mouse are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MouseReports {
    #[default]
    None,
    Clicks,
    /// Also moves with a button held.
    Drags,
    Moves,
}

impl Screen {
    /// The number of the update that the programs have announced as one and not ended yet: who shows the
    /// screen now shows half of it.
    pub fn update_under_way(&self) -> Option<u64> {
        self.emulator.is_midway.then_some(self.emulator.updates)
    }

    /// Whether the programs announce their updates at all.
    pub fn announces_updates(&self) -> bool {
        self.emulator.updates > 0
    }

    /// What the programs have asked for.
    pub fn wants(&self) -> Wants {
        let mode = self.emulator.term.mode();
        let mouse = [
            (TermMode::MOUSE_MOTION, MouseReports::Moves),
            (TermMode::MOUSE_DRAG, MouseReports::Drags),
            (TermMode::MOUSE_REPORT_CLICK, MouseReports::Clicks),
        ];
        let mouse = mouse.into_iter().find(|(flag, _)| mode.contains(*flag));
        Wants {
            keyboard: self.emulator.keyboard.flags,
            other_keys: self.emulator.other_keys,
            cursor_keys: mode.contains(TermMode::APP_CURSOR),
            paste_marks: mode.contains(TermMode::BRACKETED_PASTE),
            mouse: mouse.map_or(MouseReports::None, |(_, reports)| reports),
            mouse_numbers: mode.contains(TermMode::SGR_MOUSE),
        }
    }
}
