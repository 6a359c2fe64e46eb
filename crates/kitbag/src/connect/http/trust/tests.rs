use std::path::Path;

use super::*;

/// Whoever may write into the working folder must not say whose certificates are good.
#[test]
fn nothing_between_two_colons_is_not_the_working_folder() {
    let folders = |text: &str| {
        let env =
            Env::new([("SSL_CERT_DIR".into(), text.into()), ("HOME".into(), "/home/ada".into())], "/here");
        Trust::of(&env).folders
    };
    for text in ["/certs:", ":/certs", "/certs::/more", "::"] {
        assert!(!folders(text).contains(&Path::new("/here").to_owned()), "{text}: {:?}", folders(text));
        assert!(folders(text).iter().all(|folder| folder.is_absolute()), "{text}: {:?}", folders(text));
    }
    assert_eq!(
        folders("/certs:mine:~/certs"),
        ["/certs", "/here/mine", "/home/ada/certs"].map(PathBuf::from)
    );
    assert!(folders("::").is_empty());
}
