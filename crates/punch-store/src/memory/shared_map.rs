//! A map that grows and is copied before every write: what was committed earlier is shared between the copies.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A map whose older part all copies share.
#[derive(Clone, Debug)]
pub(super) struct SharedMap<K, V> {
    old: Arc<BTreeMap<K, V>>,
    new: BTreeMap<K, V>,
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { old: Arc::default(), new: BTreeMap::new() }
    }
}

impl<K: Clone + Ord, V: Clone> SharedMap<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        self.new.get(key).or_else(|| self.old.get(key))
    }

    pub fn insert(&mut self, key: K, value: V) {
        self.new.insert(key, value);
    }

    /// Every entry, older ones first. A key that was inserted again comes twice: callers use ever new keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.old.iter().chain(&self.new)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Entries from a key on, where keys only ever grow.
    pub fn from(&self, first: K) -> impl Iterator<Item = (&K, &V)> {
        self.old.range(first.clone()..).chain(self.new.range(first..))
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        if self.old.iter().any(|(key, value)| !keep(key, value)) {
            Arc::make_mut(&mut self.old).retain(|key, value| keep(key, value));
        }
        self.new.retain(|key, value| keep(key, value));
    }

    /// Removes and returns the entries before a key.
    pub fn take_before(&mut self, key: &K) -> BTreeMap<K, V> {
        self.settle();
        let old = Arc::make_mut(&mut self.old);
        let rest = old.split_off(key);
        let mut out = std::mem::replace(old, rest);
        let rest = self.new.split_off(key);
        out.append(&mut std::mem::replace(&mut self.new, rest));
        out
    }

    /// Moves what is new to the shared part. Does nothing while another copy has that part, unless much has come together.
    pub fn settle(&mut self) {
        const MANY: usize = 256;
        let old = match Arc::get_mut(&mut self.old) {
            Some(old) => old,
            None if self.new.len() > MANY => Arc::make_mut(&mut self.old),
            None => return,
        };
        old.extend(std::mem::take(&mut self.new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_see_what_they_were_made_of() {
        let mut map = SharedMap::default();
        map.insert(1, "a");
        map.settle();
        let before = map.clone();
        map.insert(2, "b");
        map.settle();
        let all =
            |map: &SharedMap<i32, &'static str>| map.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>();
        assert_eq!(all(&before), [(1, "a")]);
        assert_eq!(all(&map), [(1, "a"), (2, "b")]);
        assert_eq!(map.from(2).count(), 1);
        drop(before);
        map.settle();
        assert_eq!(map.get(&2), Some(&"b"));
        assert_eq!(map.take_before(&2).into_iter().collect::<Vec<_>>(), [(1, "a")]);
        map.retain(|key, _| *key != 2);
        assert_eq!(all(&map), []);
    }
}
