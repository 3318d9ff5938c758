//! Removal archives; those who depended on what goes follow the rules.

use super::{ModelDep, ModelWrite};

impl ModelWrite<'_> {
    pub(super) fn removals(&mut self) {
        for key in self.removed.clone() {
            let id = self.model.items[key].id.clone();
            for other in self.model.order.clone() {
                if self.removed.contains(&other) {
                    continue;
                }
                let deps = &mut self.model.items[other].deps;
                if self.batch.rules.dangle_removed {
                    for dep in deps.iter_mut().filter(|dep| **dep == ModelDep::On(key)) {
                        *dep = ModelDep::Missing(id.clone());
                    }
                } else {
                    deps.retain(|dep| *dep != ModelDep::On(key));
                }
            }
        }
        for key in self.removed.clone() {
            self.warn_of_ended_claim(key);
            self.model.items[key].removed = true;
            self.model.items[key].lease = None;
            self.model.order.retain(|other| *other != key);
        }
    }
}
