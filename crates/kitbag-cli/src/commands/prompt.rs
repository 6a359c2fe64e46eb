//! `kitbag prompt`: the tools as text, ready to be put into a prompt.

use std::sync::Arc;

use kitbag::connect::StartServers;
use kitbag::{Kitbag, Mode, OpenOptions, PresentOptions, Provider, View};
use kitbag_core::present::markdown::{Examples, Grouping, system_form, user_form};
use kitbag_core::text::visible;
use serde_json::json;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::present::{Form, Way, Wrapper, faults};
use crate::{live, nothing};

const EXAMPLES: &str = "\
Examples:
  kitbag prompt                          every tool, as Markdown
  kitbag prompt --form system            the same as part of a system prompt
  kitbag prompt --as signatures          one line a tool
  kitbag prompt --as text --agent chat   for a model without tool calling";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The form: markdown, signatures or text; otherwise as kitbag.toml says
    #[arg(long = "as", value_name = "FORM", value_parser = Form::parse_text)]
    form: Option<Form>,
    /// Wrap the text for a system prompt or for the end of a user's prompt
    #[arg(long = "form", value_enum, value_name = "PLACE")]
    wrapper: Option<Wrapper>,
    /// Headings to group tools by (markdown only)
    #[arg(long, value_enum, value_name = "HEADING")]
    group: Option<Group>,
    /// Add an example of every tool, generated from its schema where none is configured (markdown only)
    #[arg(long)]
    examples: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Group {
    /// Their server
    Server,
    /// Their category
    Category,
    /// Whether they read, change or destroy
    Effect,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    live::say_if_off(context, &setup);
    let (user, local) = (setup.user.clone(), live::demo(context, &setup));
    let options = OpenOptions {
        wait: context.global.wait,
        start: StartServers::AtOnce,
        local,
        ..crate::link_args::options(context, &setup)?
    };
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let view = live::view(context, &kit, &user);
        let printed = view.and_then(|view| Ok((print(context, &kit, &view, args)?, view)));
        // A server that is away takes its tools along, never the prompt.
        let told = printed.as_ref().map_or_else(|_| faults.clone(), |(_, view)| live::beside(view, &faults));
        live::tell(context, &told);
        let ended = printed.map(|(printed, view)| match printed {
            Printed::Nothing => nothing::ends(context, &kit, &view, &[], &told),
            Printed::Tools => live::unless_closed(&view, Exit::Done),
        });
        kit.close_and_exit().await;
        ended
    })
}

/// Headings and examples belong to Markdown: where another text is printed, nothing would obey them.
fn check_layout(args: &Args, audience: &PresentOptions) -> Result<(), Failure> {
    let flags = [("--group", args.group.is_some()), ("--examples", args.examples)];
    let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let mut modes = audience.servers.values().chain([&audience.mode]);
    let Some(other) = modes.find(|mode| **mode != Mode::Markdown) else { return Ok(()) };
    let message = format!("{flag} needs markdown, and tools would be printed as {}", other.as_str());
    Err(Failure::new(Exit::Usage, message).hint(format!("kitbag prompt --as markdown {flag}")))
}

/// What a prompt holds.
enum Printed {
    Tools,
    Nothing,
}

fn print(context: &mut Context, kit: &Kitbag, view: &Arc<View>, args: &Args) -> Result<Printed, Failure> {
    let mut audience = match args.form {
        Some(form) => form.present_options(kit, view, Way::default()),
        None => kit.present_options(view.agent(), Provider::OpenAiChat),
    };
    // What is to be printed is a text about every tool; where none is asked for, it is this one.
    if !Form::is_text(audience.mode) {
        audience.mode = Mode::Markdown;
    }
    audience.servers.retain(|_, mode| Form::is_text(*mode));
    check_layout(args, &audience)?;
    if let Some(group) = args.group {
        audience.markdown.grouping = match group {
            Group::Server => Grouping::Server,
            Group::Category => Grouping::Category,
            Group::Effect => Grouping::Effect,
        };
    }
    if args.examples {
        audience.markdown.examples = Examples::Generated;
    }
    let shown = kit.present(view, &audience);
    let text = match args.wrapper {
        Some(Wrapper::System) => system_form(&shown.prompt),
        Some(Wrapper::User) => user_form(&shown.prompt),
        None => shown.prompt.clone(),
    };
    if context.global.json {
        context.print_json(&json!({"prompt": text, "tokens": kitbag::tokens::count(&text)}));
    } else if !text.is_empty() {
        let lines: Vec<String> = text.split('\n').map(visible).collect();
        context.print(lines.join("\n") + "\n");
    }
    context.faults(&faults(&shown));
    context.faults(view.faults());
    Ok(if shown.prompt.is_empty() { Printed::Nothing } else { Printed::Tools })
}
