//! Why a task gave no result.

use crate::task::Id;
use std::any::Any;
use std::fmt;

/// A task was aborted or panicked. The texts are tokio's.
pub struct JoinError(detsim_executor::JoinError);

impl JoinError {
    #[inline]
    pub(super) fn new(error: detsim_executor::JoinError) -> Self {
        Self(error)
    }

    /// Whether the task was aborted, by its handle or with its node.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        self.0.is_panic()
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
        self.0.try_into_panic().map_err(Self)
    }

    /// Which task.
    pub fn id(&self) -> Id {
        Id::new(self.0.number())
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_cancelled(), self.0.text()) {
            (true, _) => write!(f, "task {} was cancelled", self.id()),
            (false, Some(text)) => write!(f, "task {} panicked with message {text:?}", self.id()),
            (false, None) => write!(f, "task {} panicked", self.id()),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_cancelled(), self.0.text()) {
            (true, _) => write!(f, "JoinError::Cancelled({:?})", self.id()),
            (false, Some(text)) => write!(f, "JoinError::Panic({:?}, {text:?}, ...)", self.id()),
            (false, None) => write!(f, "JoinError::Panic({:?}, ...)", self.id()),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        Self::other(match error.is_cancelled() {
            true => "task was cancelled",
            false => "task panicked",
        })
    }
}
