//! What is told of requests that were not let in.

use std::time::{Duration, Instant};

use super::{TOLD, Told};
use crate::access::Refused;

#[test]
fn t17_refusals_are_told_once_a_minute_for_each_reason() {
    let (told, start) = (Told::default(), Instant::now());
    let at = |seconds| start + Duration::from_secs(seconds);
    assert_eq!(told.due(Refused::NoToken, at(0)), Some(0));
    for second in 1..60 {
        assert_eq!(told.due(Refused::NoToken, at(second)), None);
    }
    assert_eq!(told.due(Refused::WrongToken, at(30)), Some(0), "another reason");
    assert_eq!(told.due(Refused::NoToken, start + TOLD), Some(59), "and how many there were");
    assert_eq!(told.due(Refused::NoToken, at(61)), None);
}
