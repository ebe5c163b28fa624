//! Settings of all families in one container, looked up by type, so that code that passes them on need not know the families.

use crate::model::Dimensions;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Any plain value can be a setting.
pub trait SettingsValue: Any + Debug + Clone + PartialEq + Send + Sync {}

impl<T: Any + Debug + Clone + PartialEq + Send + Sync> SettingsValue for T {}

/// Settings of the solver of a family.
pub trait SolverSettings: SettingsValue {
    /// Defaults at a resolution [m].
    fn defaults(resolution: f64, dimensions: Dimensions) -> Self;
}

/// Settings of any number of families, at most one of each type.
#[derive(Debug, Clone, Default)]
pub struct Settings(Vec<Arc<dyn Erased>>);

impl Settings {
    /// A single value.
    pub fn of(value: impl SettingsValue) -> Self {
        Self(vec![Arc::new(value)])
    }

    /// The settings of a type.
    pub fn get<T: SettingsValue>(&self) -> Option<&T> {
        self.0.iter().find_map(|s| any(&**s).downcast_ref())
    }

    /// Replaces the settings of the same type.
    pub fn set<T: SettingsValue>(&mut self, value: T) {
        self.0.retain(|s| !any(&**s).is::<T>());
        self.0.push(Arc::new(value));
    }

    /// Adds others, whose types must not be present yet.
    pub fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Mutable settings of a type; its default if there are none yet.
    pub fn entry<T: SettingsValue + Default>(&mut self) -> Option<&mut T> {
        self.set(self.get::<T>().cloned().unwrap_or_default());
        let own: &mut dyn Any = Arc::get_mut(self.0.last_mut()?)?;
        own.downcast_mut()
    }
}

/// Equal when each holds the same values as the other, in any order.
impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        let mut own = self.0.iter();
        self.0.len() == other.0.len() && own.all(|s| other.0.iter().any(|o| s.equals(any(&**o))))
    }
}

fn any(value: &dyn Erased) -> &dyn Any {
    value
}

trait Erased: Any + Debug + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<T: SettingsValue> Erased for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Young(f64);
    #[derive(Debug, Clone, Default, PartialEq)]
    struct Passes(u32);

    #[test]
    fn each_type_occurs_once() {
        let mut settings = Settings::of(Young(1.0));
        assert_eq!(settings.get::<Passes>(), None);
        settings.set(Passes(3));
        settings.set(Young(2.0));
        assert_eq!(settings.get(), Some(&Young(2.0)));
        let mut other = Settings::of(Passes(3));
        assert_ne!(settings, other);
        other.set(Young(2.0));
        assert_eq!(settings, other);
        settings.entry::<Passes>().unwrap().0 = 4;
        assert_ne!(settings, other);
        assert_eq!(settings.clone().get(), Some(&Passes(4)));
    }
}
