//! Random conversations: parallel calls, failures, cancels, trimming, other models, processes that end in the middle. In
//! every request that a model is sent, each call has exactly one result right behind it, and nothing that was acknowledged
//! is lost.

use fastrand::Rng;
use kitbag::{Kitbag, LocalTool, UserId};
use kitbag_agent::{Agent, ConversationId, Conversations, Memory};
use serde_json::{Value, json};

use crate::scene::{Scene, VENDORS, call, quick};

/// How many histories are made, as many again where all tests run at full size.
const HISTORIES: u64 = if option_env!("KITBAG_FULL_TESTS").is_some() { 1_000 } else { 30 };

#[tokio::test]
async fn s4_18_whatever_happens_each_call_has_one_result_and_nothing_acknowledged_is_lost() {
    let seed = testkit::seed().unwrap_or(20_261_118);
    for number in 0..HISTORIES {
        History::new(seed.wrapping_add(number)).await.run().await;
    }
}

/// One conversation while things happen to it.
struct History {
    seed: u64,
    rng: Rng,
    scene: Scene,
    kit: Kitbag,
    all: Conversations,
    id: ConversationId,
    memory: Memory,
    /// What the user said and something came of.
    acknowledged: Vec<String>,
}

/// Tools that do what tools do.
fn tools() -> Vec<LocalTool> {
    let schema = || json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let fine = LocalTool::with_schema("fine", "Works", schema(), |given, _| async move {
        Ok(format!("did {}", Value::Object(given)))
    });
    let bad = LocalTool::with_schema("bad", "Fails", schema(), |_, _| async {
        Err::<String, _>("it went wrong".to_owned())
    });
    let slow = LocalTool::with_schema("slow", "Yields", schema(), |_, _| async {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        Ok("slowly done".to_owned())
    });
    vec![fine, bad, slow]
}

fn script(rng: &mut Rng) -> Value {
    let mut turns = Vec::new();
    for _ in 0..60 {
        let names = ["fine", "bad", "slow", "no_such_tool"];
        let calls = (0..rng.usize(0..5)).map(|n| call(names[rng.usize(..names.len())], json!({ "n": n })));
        let calls: Vec<Value> = calls.collect();
        turns.push(match rng.u8(..12) {
            0 => json!({"status": 400, "error": "no"}),
            1 => json!({"text": ["a", "b", "c", "d"], "cut": "early"}),
            2 => json!({"text": ["half"], "calls": calls, "stop": "length"}),
            _ if calls.is_empty() => json!({"reasoning": ["hm"], "text": ["an ", "answer"]}),
            _ => json!({"reasoning": ["hm"], "text": ["well"], "calls": calls}),
        });
    }
    turns.into()
}

impl History {
    async fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let scene = Scene::new(script(&mut rng));
        let kit = scene.kit(tools(), &[]).await;
        let all = Conversations::of(&UserId::local(), &scene.house.path("kit/state"), &quick());
        let id = all.create().unwrap().id().clone();
        let memory = if rng.bool() { Memory::All } else { Memory::Last(rng.usize(1..9)) };
        Self { seed, rng, scene, kit, all, id, memory, acknowledged: Vec::new() }
    }

    fn agent(&mut self) -> Agent {
        let vendor = VENDORS[self.rng.usize(..VENDORS.len())];
        let talk = self.all.resume(&self.id).unwrap();
        Agent::chat(self.scene.model(vendor), self.kit.clone())
            .conversation(talk)
            .memory(self.memory)
            .max_steps(6)
    }

    async fn run(mut self) {
        let mut agent = self.agent();
        for number in 0..8 {
            let text = format!("message-{number}.");
            let until = if self.rng.u8(..3) == 0 { self.rng.usize(..12) } else { usize::MAX };
            let mut run = agent.send(&text);
            let mut seen = 0;
            while seen < until {
                let Some(event) = testkit::in_time(run.next()).await else { break };
                seen += 1;
                if event.is_err() {
                    break;
                }
            }
            drop(run);
            if 0 < seen {
                self.acknowledged.push(text);
            }
            match self.rng.u8(..4) {
                // The process ends: nothing is tidied up, and the last line may be cut off.
                0 => {
                    drop(agent);
                    self.cut_off();
                    agent = self.agent();
                }
                1 => agent.use_model(self.scene.model(VENDORS[self.rng.usize(..VENDORS.len())])),
                _ => {}
            }
        }
        let requests = self.scene.model.requests();
        for request in &requests {
            testkit::check_calls(request)
                .unwrap_or_else(|why| panic!("seed {}: {why} in {request}", self.seed));
        }
        if self.memory == Memory::All {
            let last = requests.last().unwrap()["body"].to_string();
            let places: Vec<_> = self.acknowledged.iter().map(|text| last.find(text.as_str())).collect();
            let known = &places[..places.len() - 1];
            assert!(
                known.iter().all(Option::is_some) && known.is_sorted(),
                "seed {}: {places:?} in {last}",
                self.seed
            );
        }
        drop(agent);
        self.kit.close().await;
    }

    /// Half of a line that nobody was told of.
    fn cut_off(&mut self) {
        use std::io::Write as _;
        let file = self.scene.house.path(&format!("kit/state/conversations/user_local/{}.jsonl", self.id));
        let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
        let line = "{\"kind\":\"user\",\"text\":\"never \u{e4}cknowledged";
        file.write_all(&line.as_bytes()[..self.rng.usize(..line.len())]).unwrap();
    }
}
