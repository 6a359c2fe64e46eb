use kitbag_core::ServerSpec;

use super::*;
use crate::connect::{Greeting, LinkContext, StartServers};
use crate::guard::Launcher;
use crate::world::Makings;
use crate::{Env, Setup};

/// A world with one server, which is not started, and a hold on its link.
struct Scene {
    roster: Roster,
    world: Arc<World>,
    name: ServerName,
}

impl Scene {
    fn new() -> Self {
        let name = ServerName::parse("x").unwrap();
        let spec = ServerSpec { lazy: true, ..ServerSpec::program(name.clone(), "none", ["x"]) };
        let setup = Arc::new(Setup::from_specs(Env::default(), vec![spec]));
        let context = LinkContext::new(setup.env(), &setup.folders, Launcher::None, Greeting::default());
        let nothing = Arc::new(World::empty(setup.clone(), Arc::new(context)));
        let makings = Makings { limits: None, only: None, start: StartServers::AsConfigured };
        let world = Arc::new(World::compile(setup, &makings, &nothing));
        Self { roster: Roster::new(nothing, CatalogNames::default(), TaskTracker::new()), world, name }
    }

    /// Opens its server anew and puts it in place.
    fn open(&self) -> Arc<Opened> {
        let server = self.world.servers[&self.name].clone();
        let start = || Link::start(server.plan.clone(), &self.world.context);
        let opened = Opened::new(Lease::take(None, start), server.clone());
        let new = New { name: self.name.clone(), remembered: None, before: Before::Other };
        self.roster.switch(Switch {
            world: self.world.clone(),
            links: Arc::new([(self.name.clone(), opened.clone())].into()),
            phase: Phase::Open,
            new: vec![new],
            gone: Vec::new(),
            relisted: Vec::new(),
            local: ServerTools::parse(&self.world.local, [], &self.world.limits),
        });
        opened
    }

    fn away(&self) -> Option<&'static str> {
        self.roster.now().snapshot.away(&self.name).map(|away| away.state)
    }
}

/// Whoever follows a link may be about to say how it is when it is let go of.
#[tokio::test]
async fn f13_what_a_link_says_late_does_not_bring_it_back() {
    let scene = Scene::new();
    let opened = scene.open();
    assert_eq!(scene.away(), None);
    let link = opened.let_go().unwrap();
    scene.roster.stopped(&opened);
    assert_eq!(scene.away(), Some("stopped"));
    scene.roster.heed(&link, &LinkStatus::new(LinkState::Ready));
    assert_eq!(scene.away(), Some("stopped"));
    link.stop();
}

/// A reload may have put another link in place before the end of the old one is told.
#[tokio::test]
async fn f13_the_end_of_a_replaced_link_is_not_told_of_the_new_one() {
    let scene = Scene::new();
    let old = scene.open();
    let new = scene.open();
    scene.roster.stopped(&old);
    assert_eq!(scene.away(), None);
    scene.roster.stopped(&new);
    assert_eq!(scene.away(), Some("stopped"));
}
