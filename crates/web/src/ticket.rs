//! Tickets: what a page shows with each call. It gets one for the secret that it was given when it was paired, once
//! the server has proved itself. A ticket counts with the server that gave it and for as long as that runs: whoever has
//! the port afterwards is sent nothing that lets him in anywhere.

use crate::devices::{Book, Device, Kind};
use crate::secret;
use std::io;

/// The tickets of one server. None is kept: each is made of what only this server knows.
#[derive(Debug)]
pub(crate) struct Tickets {
    secret: String,
}

impl Tickets {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { secret: secret::fresh()? })
    }

    pub(crate) fn of(&self, device: &Device) -> String {
        format!("{}.{}", device.id, device.sign(&self.secret))
    }

    pub(crate) fn owner<'b>(&self, book: &'b Book, ticket: &str) -> Option<&'b Device> {
        let (id, _) = ticket.split_once('.')?;
        let mut browsers = book.devices.iter().filter(|device| device.kind == Kind::Browser);
        let device = browsers.find(|device| device.id == id)?;
        secret::are_same(&self.of(device), ticket).then_some(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_wire::call::Scope;

    const NOON: i64 = 1_800_000_000;

    #[test]
    fn a_ticket_is_good_for_its_device_and_with_the_server_that_gave_it() {
        let mut book = Book::default();
        let mut pair = |name: &str| {
            let code = book.offer(NOON, name, Scope::Watch).unwrap();
            book.redeem(NOON, &code).unwrap().device
        };
        let (phone, desk) = (pair("phone"), pair("desk"));
        let (script, _) = book.token(NOON, "ci", Scope::Watch).unwrap();
        let (tickets, others) = (Tickets::new().unwrap(), Tickets::new().unwrap());
        let ticket = tickets.of(&phone);
        assert_eq!(tickets.owner(&book, &ticket), Some(&phone));
        assert_eq!(others.owner(&book, &ticket), None);
        let signed = ticket.split_once('.').unwrap().1;
        for wrong in ["", ".", &phone.id, &format!("{}.{signed}", desk.id), signed] {
            assert_eq!(tickets.owner(&book, wrong), None, "{wrong}");
        }
        assert_eq!(tickets.owner(&book, &tickets.of(&script)), None);
        book.revoke("phone").unwrap();
        assert_eq!(tickets.owner(&book, &ticket), None);
    }
}
