//! What crosses the wire is read here: a parser is compiled where it is asked for, and so it is once for all crates.

use crate::client::{Call, Response};
use crate::frame::{Frame, FrameFault};
use crate::hold::{Order, Report};

macro_rules! read_from_frames {
    ($($words:ty),*) => {$(
        impl $words {
            /// Parses the words of a frame.
            pub fn read(frame: &Frame) -> Result<Self, FrameFault> {
                frame.words()
            }
        }
    )*};
}

read_from_frames!(Call, Response, Report, Order);
