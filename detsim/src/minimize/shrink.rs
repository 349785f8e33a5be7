//! The search for the few choices that matter.
//!
//! Owns: the passes over a set of choices, from coarse to fine, and the memory of what was tried.
//! Does not own: how a set is run (that is an [`Oracle`]) nor what a choice means. Invariants: the
//! set that is kept fails in the same way as the one that was given; the result depends on the
//! oracle's answers alone, not on how many it works out at a time; what passed is not tried again;
//! the budget is never exceeded.

use std::collections::{BTreeMap, BTreeSet};

use detsim_executor::rng::fold;

/// Runs sets of choices.
pub(crate) trait Oracle<T> {
    /// Runs candidates, any number at a time: the lowest one that fails in the same way, with the
    /// choices of it that came up.
    fn first_failing(&mut self, candidates: &[Vec<T>]) -> Option<(usize, Vec<T>)>;

    /// A smaller set, which fails, was found.
    fn kept(&mut self, _set: &[T], _replays: u32) {}

    /// Nothing more is to be run: the time is up, or nothing can be run at all.
    fn is_over(&self) -> bool {
        false
    }
}

/// What a pass asks of the things it removes.
pub(crate) trait Item: Clone {
    /// Tells it from every other: a hash.
    fn key(&self) -> u64;
    /// Things of one class are removed together first: a kind of fault, the schedule.
    fn class(&self) -> u64;
    /// Simpler forms of the same thing, the simplest first.
    fn simpler(&self) -> Vec<Self>;
    /// A stronger form of the same thing, which may do the work of several; `None` where it has
    /// none. `set` is the whole set that was given to the search.
    fn stronger(&self, _set: &[Self]) -> Option<Self> {
        None
    }
    /// Larger values of the same thing, which one draw for all may do the work of many with: the
    /// least delay of every link for the delays of each message.
    fn larger(&self) -> Vec<Self> {
        Vec::new()
    }
}

/// How a search went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shrunk<T> {
    /// What is left.
    pub(crate) kept: Vec<T>,
    /// Sets that were run.
    pub(crate) replays: u32,
    /// The budget ended the search: something left may not be needed.
    pub(crate) cut_short: bool,
}

/// Sets up to this size are tried without each pair of their members.
const PAIRS_MAX: usize = 12;

/// Sets of a size in between are tried with one member made stronger and another left out.
const STRONGER_MIN: usize = 5;
const STRONGER_MAX: usize = 24;

/// Candidates that an oracle gets at a time: enough for all processors, few enough to hold.
const BATCH: usize = 16;

/// Takes out of `set`, which fails, what can go alone or together with another; runs at most
/// `replays_max` sets.
pub(crate) fn reduce<T: Item>(
    set: Vec<T>,
    oracle: &mut dyn Oracle<T>,
    replays_max: u32,
) -> Shrunk<T> {
    let mut search = Search::new(set, oracle, 0, replays_max);
    if !search.attempt_one(Vec::new()) {
        search.truncate();
        search.remove_classes();
        search.remove_chunks();
        if search.replace_classes() {
            search.remove_chunks();
        }
        search.remove_pairs();
    }
    search.done()
}

/// Goes on with a set that was reduced from `given`: what is left is made stronger where others can go
/// for it, and as simple as can be. It costs more the more there is left.
pub(crate) fn refine<T: Item>(
    reduced: Shrunk<T>,
    given: &[T],
    oracle: &mut dyn Oracle<T>,
    replays_max: u32,
) -> Shrunk<T> {
    let before = reduced.kept.len();
    let mut search = Search::new(reduced.kept, oracle, reduced.replays, replays_max);
    search.strengthen(given);
    // What was there for a value's sake may go with it.
    if search.simplify() {
        search.sweep_chunks(1);
    }
    if search.kept.len() < before {
        search.remove_pairs();
    }
    search.done()
}

struct Search<'a, T> {
    kept: Vec<T>,
    oracle: &'a mut dyn Oracle<T>,
    /// Hashes of the sets that were run and did not fail in the same way.
    passed: BTreeSet<u64>,
    replays: u32,
    replays_max: u32,
}

impl<'a, T: Item> Search<'a, T> {
    fn new(kept: Vec<T>, oracle: &'a mut dyn Oracle<T>, replays: u32, replays_max: u32) -> Self {
        Self { kept, oracle, passed: BTreeSet::new(), replays, replays_max }
    }

    fn done(self) -> Shrunk<T> {
        let cut_short = !self.has_budget();
        Shrunk { kept: self.kept, replays: self.replays, cut_short }
    }

    /// Keeps the first of the candidates `make(0)`, `make(1)`, .. `make(count - 1)` that fails, and
    /// says which it was.
    fn attempt(&mut self, count: usize, make: impl Fn(usize) -> Vec<T>) -> Option<usize> {
        let mut next = 0;
        while next < count && self.has_budget() {
            let (mut batch, mut indices) = (Vec::new(), Vec::new());
            let room = BATCH.min((self.replays_max - self.replays) as usize);
            while next < count && batch.len() < room {
                let candidate = make(next);
                if !self.passed.contains(&hash(&candidate)) {
                    batch.push(candidate);
                    indices.push(next);
                }
                next += 1;
            }
            if let Some(place) = self.run(batch) {
                return Some(indices[place]);
            }
        }
        None
    }

    fn attempt_one(&mut self, candidate: Vec<T>) -> bool {
        self.attempt(1, |_| candidate.clone()).is_some()
    }

    fn run(&mut self, batch: Vec<Vec<T>>) -> Option<usize> {
        let found = self.oracle.first_failing(&batch);
        // Counted as if run one after the other, whatever the oracle did at a time.
        let passed = found.as_ref().map_or(batch.len(), |(place, _)| *place);
        self.replays += (passed + usize::from(found.is_some())) as u32;
        self.passed.extend(batch[..passed].iter().map(|candidate| hash(candidate)));
        let (place, used) = found?;
        self.kept = used;
        self.oracle.kept(&self.kept, self.replays);
        Some(place)
    }

    fn has_budget(&self) -> bool {
        self.replays < self.replays_max && !self.oracle.is_over()
    }

    /// The shortest prefix that fails, by bisection: what came after the failure goes at once.
    /// Whether a prefix fails need not be monotone, so the answer is a good one, not the best.
    fn truncate(&mut self) {
        let (mut passes, mut fails) = (0, self.kept.len());
        let whole = self.kept.clone();
        while passes + 1 < fails && self.has_budget() {
            let middle = passes + (fails - passes) / 2;
            match self.attempt_one(whole[..middle].to_vec()) {
                true => fails = middle,
                false => passes = middle,
            }
        }
    }

    /// Is any fault needed, any disk, any network? Asked before the schedule is touched.
    fn remove_classes(&mut self) {
        let classes: BTreeSet<u64> = self.kept.iter().map(T::class).collect();
        if classes.len() < 2 {
            return;
        }
        for class in classes {
            let rest = self.kept.iter().filter(|item| item.class() != class).cloned().collect();
            self.attempt_one(rest);
        }
    }

    /// Does one larger value do what a whole class does? Asked of the classes that leave too much to
    /// read, the largest first. True: it does.
    fn replace_classes(&mut self) -> bool {
        let mut classes: BTreeMap<u64, usize> = BTreeMap::new();
        for item in &self.kept {
            *classes.entry(item.class()).or_default() += 1;
        }
        let mut classes: Vec<(usize, u64)> = classes.into_iter().map(|(c, n)| (n, c)).collect();
        classes.sort_unstable_by(|a, b| b.cmp(a));
        let many = classes.into_iter().filter(|(members, _)| *members > STRONGER_MAX);
        many.fold(false, |replaced, (_, class)| self.replace_class(class) | replaced)
    }

    fn replace_class(&mut self, class: u64) -> bool {
        let rest: Vec<T> = self.kept.iter().filter(|item| item.class() != class).cloned().collect();
        let forms = |(place, item): (usize, &T)| item.larger().into_iter().map(move |l| (place, l));
        let forms: Vec<(usize, T)> = rest.iter().enumerate().flat_map(forms).collect();
        let with = |form: usize| {
            let (place, larger) = &forms[form];
            let mut candidate = rest.clone();
            candidate[*place] = larger.clone();
            candidate
        };
        self.attempt(forms.len(), with).is_some()
    }

    /// Delta debugging: removes ever smaller chunks, down to single choices, until none can go.
    fn remove_chunks(&mut self) {
        let mut chunk = self.kept.len().div_ceil(2).max(1);
        loop {
            let removed = self.sweep_chunks(chunk);
            if !self.has_budget() || (chunk == 1 && !removed) {
                return;
            }
            chunk = (chunk / 2).min(self.kept.len().div_ceil(2)).max(1);
        }
    }

    /// Tries each chunk once, from the end to the start: late choices matter least. True: some went.
    fn sweep_chunks(&mut self, chunk: usize) -> bool {
        let (mut end, mut removed) = (self.kept.len(), false);
        while end > 0 && self.has_budget() {
            let set = self.kept.clone();
            let bounds = |place: usize| {
                let end = end - place * chunk;
                (end.saturating_sub(chunk), end)
            };
            let without = |place: usize| {
                let (from, to) = bounds(place);
                [&set[..from], &set[to..]].concat()
            };
            let Some(place) = self.attempt(end.div_ceil(chunk), without) else { break };
            removed = true;
            // What stood before the chunk and is still there has not been tried.
            let before: BTreeSet<u64> = set[..bounds(place).0].iter().map(T::key).collect();
            let is_before = |item: &&T| before.contains(&item.key());
            end = self.kept.iter().take_while(is_before).count();
        }
        removed
    }

    /// One long delay may do what several short ones did: makes each member stronger in turn, and
    /// leaves out another for it. The stronger form alone need not fail.
    fn strengthen(&mut self, given: &[T]) {
        let mut index = 0;
        while (STRONGER_MIN..=STRONGER_MAX).contains(&self.kept.len()) && self.has_budget() {
            let Some(member) = self.kept.get(index) else { return };
            let (set, stronger) = (self.kept.clone(), member.stronger(given));
            let without = |other: usize| {
                let mut candidate = set.clone();
                if let Some(stronger) = &stronger {
                    candidate[index] = stronger.clone();
                }
                candidate.remove(if other < index { other } else { other + 1 });
                candidate
            };
            let count = if stronger.is_some() { set.len() - 1 } else { 0 };
            if self.attempt(count, without).is_none() {
                index += 1;
            }
        }
    }

    /// Simpler values: a shorter delay, a smaller cut. True: some were found.
    fn simplify(&mut self) -> bool {
        let (mut index, mut simplified) = (0, false);
        while index < self.kept.len() && self.has_budget() {
            let (set, forms) = (self.kept.clone(), self.kept[index].simpler());
            let with = |form: usize| {
                let mut candidate = set.clone();
                candidate[index] = forms[form].clone();
                candidate
            };
            simplified |= self.attempt(forms.len(), with).is_some();
            index += 1;
        }
        simplified
    }

    /// Two choices that can only go together.
    fn remove_pairs(&mut self) {
        while self.kept.len() <= PAIRS_MAX && self.has_budget() {
            let set = self.kept.clone();
            let indices = 0..set.len();
            let pairs: Vec<(usize, usize)> =
                indices.flat_map(|a| (a + 1..set.len()).map(move |b| (a, b))).collect();
            let without = |pair: usize| {
                let (a, b) = pairs[pair];
                let kept = set.iter().enumerate().filter(|(index, _)| *index != a && *index != b);
                kept.map(|(_, item)| item.clone()).collect()
            };
            if self.attempt(pairs.len(), without).is_none() {
                return;
            }
        }
    }
}

/// The hash of a set, whatever its order.
fn hash<T: Item>(set: &[T]) -> u64 {
    let sum = set.iter().fold(0, |sum: u64, item| sum.wrapping_add(fold(item.key(), 1)));
    fold(sum, set.len() as u64)
}

#[cfg(test)]
mod tests;
