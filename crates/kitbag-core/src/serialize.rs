//! Closed words (kinds, states, transports) serialize as the word they print.

/// Serializes types by their `as_str`.
#[doc(hidden)]
#[macro_export]
macro_rules! serialize_as_word {
    ($($ty:ty),* $(,)?) => {$(
        impl ::serde::Serialize for $ty {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )*};
}

serialize_as_word!(
    crate::ErrorKind,
    crate::FaultKind,
    crate::Severity,
    crate::Stage,
    crate::Transport,
    crate::model::Delivery,
    crate::model::Mode,
    crate::names::ServerName,
    crate::names::ShownName,
    crate::names::ToolName,
    crate::names::UserId,
);
