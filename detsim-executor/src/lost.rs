//! Why a task gave no result.
//!
//! Owns: what a task leaves that was aborted or panicked, and the error that its handle gives. Does not own:
//! who hears of it ([`crate::join`], [`crate::run`]). Invariant: both fit in a word or two, so that a result
//! which nearly always is one costs no room for what it nearly never is.

use crate::block::TaskTag;
use crate::event::TaskNumber;
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Why a task has no result.
#[derive(Debug)]
pub(crate) enum Lost {
    Aborted,
    Panicked(Box<Panicked>),
}

/// The panic that ended a task.
pub(crate) struct Panicked {
    task: TaskTag,
    /// The text of the payload, where it is one.
    text: Option<String>,
    /// The lock is for `Sync` alone: a payload is only `Send`.
    payload: Mutex<Box<dyn Any + Send>>,
}

impl Lost {
    /// The task ended with this panic.
    pub(crate) fn panicked(task: TaskTag, payload: Box<dyn Any + Send>) -> Self {
        let text = text_of(&*payload);
        Self::Panicked(Box::new(Panicked { task, text, payload: Mutex::new(payload) }))
    }

    /// The task that panicked, and what it said.
    pub(crate) fn panic(&self) -> Option<(TaskTag, String)> {
        match self {
            Self::Aborted => None,
            Self::Panicked(panicked) => Some((panicked.task, panicked.message().to_owned())),
        }
    }
}

impl Panicked {
    fn message(&self) -> &str {
        self.text.as_deref().unwrap_or(NO_TEXT)
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Panicked").field("text", &self.text).finish_non_exhaustive()
    }
}

/// Why a task gave no result.
pub struct JoinError {
    task: TaskNumber,
    cause: Lost,
}

impl JoinError {
    #[inline]
    pub(crate) fn new(task: TaskNumber, cause: Lost) -> Self {
        Self { task, cause }
    }

    /// The task was aborted, or its node went down.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.cause, Lost::Aborted)
    }

    /// The task panicked.
    pub fn is_panic(&self) -> bool {
        !self.is_cancelled()
    }

    /// What the task panicked with, where that is a text.
    pub fn text(&self) -> Option<&str> {
        match &self.cause {
            Lost::Aborted => None,
            Lost::Panicked(panicked) => panicked.text.as_deref(),
        }
    }

    /// What the task panicked with.
    ///
    /// # Panics
    /// Where it did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }

    /// What the task panicked with, or this error back.
    ///
    /// # Errors
    /// Where it did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        match self.cause {
            Lost::Panicked(panicked) => {
                Ok(panicked.payload.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            Lost::Aborted => Err(self),
        }
    }

    /// The number of the task.
    pub fn number(&self) -> TaskNumber {
        self.task
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Lost::Aborted => write!(f, "task {} was cancelled", self.task.0),
            Lost::Panicked(panicked) => {
                write!(f, "task {} panicked with message {:?}", self.task.0, panicked.message())
            }
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.task.0;
        match &self.cause {
            Lost::Aborted => write!(f, "JoinError::Cancelled(Id({id}))"),
            Lost::Panicked(panicked) => {
                write!(f, "JoinError::Panic(Id({id}), {:?}, ...)", panicked.message())
            }
        }
    }
}

impl std::error::Error for JoinError {}

const NO_TEXT: &str = "a panic without a text";

fn text_of(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}

/// The text of a panic.
pub fn message_of(payload: &(dyn Any + Send)) -> String {
    text_of(payload).unwrap_or_else(|| NO_TEXT.to_owned())
}
