use kitbag::ErrorKind;
use kitbag::model::EXIT_CODES;

use super::Exit;

#[test]
fn f79_exit_codes_are_those_of_the_table() {
    let ours = Exit::ALL.map(|exit| exit as u8);
    let table: Vec<u8> = EXIT_CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(ours.as_slice(), table);
    for kind in ErrorKind::ALL {
        assert_eq!(Exit::from(*kind) as u8, kind.exit_code(), "{kind:?}");
    }
}
