//! The end that sees the value.

use super::core::{Changing, Seen};
use super::error::RecvError;
use super::{Ref, Shared};
use crate::sync::errors;
use detsim_executor::OpKind;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;

/// Sees the value, and knows which version it has seen.
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    version: u64,
}

impl<T> Receiver<T> {
    /// The first one of a channel.
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared, version: 0 }
    }

    /// One more, which has seen the value that is there.
    pub(super) fn subscribe(shared: Arc<Shared<T>>) -> Self {
        let version = shared.core.add_receiver();
        Self { shared, version }
    }

    /// The value. It stays new to this receiver, where it is.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.core.before(OpKind::Read);
        let inner = self.shared.read();
        let has_changed = self.version != self.shared.core.version();
        Ref { inner, has_changed }
    }

    /// The value, which this receiver has seen from now on.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.shared.core.before(OpKind::Read);
        let inner = self.shared.read();
        let version = self.shared.core.version();
        let has_changed = std::mem::replace(&mut self.version, version) != version;
        Ref { inner, has_changed }
    }

    /// Whether there is a value that this receiver has not seen.
    ///
    /// # Errors
    /// Where all senders were dropped.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let looks = self.shared.core.looks();
        if looks.senders == 0 {
            return Err(errors::watch());
        }
        Ok(self.version != looks.version)
    }

    /// Takes the value for one that was not seen.
    pub fn mark_changed(&mut self) {
        self.version = self.version.wrapping_sub(1);
    }

    /// Takes the value for one that was seen.
    pub fn mark_unchanged(&mut self) {
        self.version = self.shared.core.looks().version;
    }

    /// Waits for a value that was not seen, which is seen then. Cancel safe.
    ///
    /// # Errors
    /// Where all senders were dropped and the last value was seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        let site = Location::caller();
        async move {
            let mut changing = Changing::new(&self.shared.core, site);
            let seen = Some(self.version);
            match poll_fn(|cx| changing.poll(cx, seen)).await {
                Seen::Version(version) => {
                    self.version = version;
                    Ok(())
                }
                Seen::Closed => Err(errors::watch()),
            }
        }
    }

    /// Waits for a value for which `f` gives true, which the one that is there may be.
    ///
    /// # Errors
    /// Where all senders were dropped and `f` gave false for the last value.
    #[track_caller]
    pub fn wait_for(
        &mut self,
        mut f: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        let site = Location::caller();
        async move {
            let Self { shared, version } = self;
            let shared: &Shared<T> = shared;
            let mut seen = None;
            loop {
                let mut changing = Changing::new(&shared.core, site);
                if let Seen::Closed = poll_fn(|cx| changing.poll(cx, seen)).await {
                    return Err(errors::watch());
                }
                let inner = shared.read();
                let now = shared.core.version();
                let has_changed = std::mem::replace(version, now) != now;
                if f(&inner) {
                    return Ok(Ref { inner, has_changed });
                }
                seen = Some(now);
            }
        }
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Whether all senders were dropped.
    pub fn is_closed(&self) -> bool {
        self.shared.core.looks().senders == 0
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.core.add_receiver();
        Self { shared: Arc::clone(&self.shared), version: self.version }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.core.leave_receiver();
    }
}
