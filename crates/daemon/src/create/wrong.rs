//! Why something that is wanted cannot be, and the way out.

#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) hint: String,
}

pub(crate) fn wrong(message: impl Into<String>, hint: impl Into<String>) -> Wrong {
    Wrong { message: message.into(), hint: hint.into() }
}
