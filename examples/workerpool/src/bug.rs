//! The mistakes that can be switched on.

use std::fmt;
use std::str::FromStr;

/// One mistake, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bug {
    /// The program as it should be.
    #[default]
    None,
    /// The total is read under one lock and written back under a later one.
    LostUpdate,
    /// Who waits for the end looks first and begins to listen later.
    LostWakeup,
    /// An audit takes the two locks in the other order.
    AbBa,
}

impl Bug {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("none", Self::None),
        ("lost-update", Self::LostUpdate),
        ("lost-wakeup", Self::LostWakeup),
        ("ab-ba", Self::AbBa),
    ];
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, bug)| bug == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Bug {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, bug)| *bug).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("\"{name}\" is no bug of this pool; there are: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Bug;

    #[test]
    fn names_are_read_back() {
        for (name, bug) in Bug::ALL {
            assert_eq!(name.parse(), Ok(bug));
            assert_eq!(bug.to_string(), name);
        }
        assert!("off".parse::<Bug>().unwrap_err().contains("lost-update"));
    }
}
