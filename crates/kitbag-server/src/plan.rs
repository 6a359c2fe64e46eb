//! Which servers a client sees as one tool each, so that what it is given fits into its model's context.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag::{Kitbag, Mode, PresentOptions, Provider, ServerName, View};
use kitbag_core::present::gateway::GatewayDefinition;

use crate::audience::Style;

#[cfg(test)]
mod tests;

/// The gateways of a view: all that there are, those that are shown first.
#[derive(Default)]
pub(crate) struct Gateways {
    all: Vec<GatewayDefinition>,
    shown: usize,
}

impl Gateways {
    /// Those that are shown instead of their servers' tools.
    pub(crate) fn shown(&self) -> &[GatewayDefinition] {
        self.all.get(..self.shown).unwrap_or_default()
    }

    /// All of them: a client may call one by a list it got before another was written.
    pub(crate) fn all(&self) -> &[GatewayDefinition] {
        &self.all
    }

    /// Whether a server's tools stand behind its gateway.
    pub(crate) fn hide(&self, server: &ServerName) -> bool {
        self.shown().iter().any(|gateway| gateway.server == *server)
    }
}

/// What one server takes, either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) tools: usize,
    pub(crate) tokens: usize,
    /// Of its gateway.
    pub(crate) gateway: usize,
}

/// Whether any server could be seen as one tool: if not, there is nothing to find out.
pub(crate) fn may_have_gateways(style: &Style) -> bool {
    let may = |mode: Mode| mode == Mode::Gateway || mode == Mode::Auto && !style.defers;
    match style.of_all {
        Some(mode) => may(mode),
        None => may(style.rest) || style.has_own,
    }
}

/// The gateways of a view. `weigh` tells what a server takes, and what all those take that have no gateway.
pub(crate) fn gateways(
    kit: &Kitbag,
    view: &Arc<View>,
    style: &Style,
    weigh: impl Fn(Option<&GatewayDefinition>, &[GatewayDefinition]) -> Weight,
) -> Gateways {
    if !may_have_gateways(style) {
        return Gateways::default();
    }
    let options = PresentOptions::new(Provider::Generic, Mode::Gateway);
    let mut all = kit.present(view, &options).gateways.clone();
    let own = if style.of_all.is_none() { own_modes(kit, view) } else { BTreeMap::new() };
    let mode = |gateway: &GatewayDefinition| {
        style.of_all.or(own.get(&gateway.server).copied()).unwrap_or(style.rest)
    };
    let is_open = |gateway: &&GatewayDefinition| mode(gateway) == Mode::Auto && !style.defers;
    let mut chosen: Vec<ServerName> = Vec::new();
    if all.iter().any(|gateway| is_open(&gateway)) {
        let fixed = all.iter().filter(|gateway| !is_open(gateway)).map(|gateway| {
            let weight = weigh(Some(gateway), &all);
            match mode(gateway) {
                Mode::Gateway => Weight { tools: 1, tokens: weight.gateway, ..weight },
                _ => weight,
            }
        });
        let fixed = fixed.chain([weigh(None, &all)]).fold(Weight::default(), |sum, weight| Weight {
            tools: sum.tools + weight.tools,
            tokens: sum.tokens + weight.tokens,
            gateway: 0,
        });
        let open =
            all.iter().filter(is_open).map(|gateway| (gateway.server.clone(), weigh(Some(gateway), &all)));
        chosen = fit(fixed, open.collect(), style);
    }
    let is_shown =
        |gateway: &GatewayDefinition| mode(gateway) == Mode::Gateway || chosen.contains(&gateway.server);
    all.sort_by(|one, other| (!is_shown(one), &one.server).cmp(&(!is_shown(other), &other.server)));
    let shown = all.iter().filter(|gateway| is_shown(gateway)).count();
    Gateways { all, shown }
}

/// The servers that must be seen as one tool each so that all fits: those that take most first, and no more than needed.
fn fit(fixed: Weight, mut open: Vec<(ServerName, Weight)>, style: &Style) -> Vec<ServerName> {
    let (mut tools, mut tokens) =
        open.iter().fold((fixed.tools, fixed.tokens), |(tools, tokens), (_, weight)| {
            (tools + weight.tools, tokens + weight.tokens)
        });
    open.sort_by(|(a, one), (b, other)| (other.tokens, a).cmp(&(one.tokens, b)));
    let mut chosen = Vec::new();
    for (server, weight) in open {
        if tokens <= style.budget && tools <= style.most {
            break;
        }
        let saves = if style.budget < tokens { weight.gateway < weight.tokens } else { 1 < weight.tools };
        if saves {
            tokens = tokens - weight.tokens + weight.gateway;
            tools = tools - weight.tools + 1;
            chosen.push(server);
        }
    }
    chosen
}

/// How the files say that single servers are seen.
fn own_modes(kit: &Kitbag, view: &View) -> BTreeMap<ServerName, Mode> {
    kit.present_options(view.agent(), Provider::Generic).servers
}
