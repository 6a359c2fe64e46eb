use super::*;

#[track_caller]
fn check(folder: &str, expected: &str) {
    assert_eq!(file_url(Path::new(folder)), expected, "{folder:?}");
}

#[test]
fn folders_become_urls() {
    check("/home/ada/work", "file:///home/ada/work");
    check("/a b/ü%#?", "file:///a%20b/%C3%BC%25%23%3F");
    check("/", "file:///");
}

#[test]
fn folders_are_taken_from_where_we_are() {
    let answer = roots_answer(Path::new("/home/ada"), &["work".into(), "/tmp".into()]).unwrap();
    let expected =
        r#"{"roots":[{"uri":"file:///home/ada/work","name":"work"},{"uri":"file:///tmp","name":"tmp"}]}"#;
    assert_eq!(&*answer, expected);
    assert_eq!(roots_answer(Path::new("/"), &[]), None);
}
