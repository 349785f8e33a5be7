//! Why a task gave no result.

use crate::task::Id;
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A task was aborted or panicked. The texts are tokio's.
pub struct JoinError {
    id: Id,
    cause: Cause,
}

enum Cause {
    Cancelled,
    Panicked {
        /// The text, where the payload is one.
        message: Option<String>,
        /// The lock is for `Sync` alone: a payload is only `Send`.
        payload: Mutex<Box<dyn Any + Send>>,
    },
}

impl JoinError {
    pub(super) fn new(error: detsim_executor::JoinError) -> Self {
        let id = Id::new(error.number());
        let cause = match error.try_into_panic() {
            Ok(payload) => {
                Cause::Panicked { message: text_of(&*payload), payload: Mutex::new(payload) }
            }
            Err(_) => Cause::Cancelled,
        };
        Self { id, cause }
    }

    /// Whether the task was aborted, by its handle or with its node.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.cause, Cause::Cancelled)
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.cause, Cause::Panicked { .. })
    }

    /// What the task panicked with.
    ///
    /// # Panics
    /// Where it did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }

    /// What the task panicked with.
    ///
    /// # Errors
    /// This error again, where the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self.cause {
            Cause::Panicked { payload, .. } => {
                Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            Cause::Cancelled => Err(self),
        }
    }

    /// Which task.
    pub fn id(&self) -> Id {
        self.id
    }
}

fn text_of(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Cancelled => write!(f, "task {} was cancelled", self.id),
            Cause::Panicked { message: Some(message), .. } => {
                write!(f, "task {} panicked with message {message:?}", self.id)
            }
            Cause::Panicked { message: None, .. } => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Cancelled => write!(f, "JoinError::Cancelled({:?})", self.id),
            Cause::Panicked { message: Some(message), .. } => {
                write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.id)
            }
            Cause::Panicked { message: None, .. } => {
                write!(f, "JoinError::Panic({:?}, ...)", self.id)
            }
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        Self::other(match error.cause {
            Cause::Cancelled => "task was cancelled",
            Cause::Panicked { .. } => "task panicked",
        })
    }
}
