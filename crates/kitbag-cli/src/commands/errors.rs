//! `kitbag errors`: every way a call can end without a result, every exit code, and every reason why a server cannot be
//! used. The docs are made from this.

use kitbag::ErrorKind;
use kitbag::connect::ReasonClass;
use kitbag::model::EXIT_CODES;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{lines, table};

pub(crate) fn run(context: &mut Context) -> Result<Exit, Failure> {
    if context.global.json {
        let kinds: Vec<Value> = ErrorKind::ALL.iter().map(|kind| row(*kind)).collect();
        let code = |(code, meaning): &(u8, &str)| json!({"exit": code, "meaning": meaning});
        let codes: Vec<Value> = EXIT_CODES.iter().map(code).collect();
        let reasons: Vec<Value> = ReasonClass::ALL.iter().map(|class| reason(*class)).collect();
        context.print_json(&json!({"kinds": kinds, "exit_codes": codes, "reasons": reasons}));
        return Ok(Exit::Done);
    }
    let mut kinds = table();
    kinds.set_header(["KIND", "EXIT", "DELIVERED", "MEANING"]);
    for kind in ErrorKind::ALL {
        let exit = kind.exit_code().to_string();
        kinds.add_row([kind.as_str(), &exit, kind.delivery().as_str(), kind.sentence()]);
    }
    let mut codes = table();
    codes.set_header(["EXIT", "MEANING"]);
    for (code, meaning) in EXIT_CODES {
        codes.add_row([code.to_string().as_str(), meaning]);
    }
    let mut reasons = table();
    reasons.set_header(["REASON", "KIND", "MEANING"]);
    for class in ReasonClass::ALL {
        reasons.add_row([class.as_str(), class.kind().as_str(), class.sentence()]);
    }
    let text = format!("{}\n{}\n{}", lines(&kinds), lines(&codes), lines(&reasons));
    context.print(text);
    Ok(Exit::Done)
}

fn reason(class: ReasonClass) -> Value {
    json!({"class": class.as_str(), "kind": class.kind().as_str(), "meaning": class.sentence()})
}

fn row(kind: ErrorKind) -> Value {
    json!({
        "kind": kind.as_str(),
        "exit": kind.exit_code(),
        "delivered": kind.delivery().as_str(),
        "meaning": kind.sentence(),
    })
}
