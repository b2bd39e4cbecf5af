/** Machines in company: children invoked and spawned, messages up, down and sideways, references, system ids. */
import {
  assign,
  emit,
  enqueueActions,
  forwardTo,
  log,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
  type ActorRefFrom,
  type AnyActorRef,
} from "xstate";
import { awaited, does, traced, type Subject } from "./subject.ts";

const ponger = setup({
  types: {} as { context: { n: number }; events: { type: "ping"; from: AnyActorRef } | { type: "later" } | { type: "end" }; output: { pings: number } },
}).createMachine({
  id: "ponger",
  version: "1",
  context: { n: 0 },
  output: ({ context }) => ({ pings: context.n }),
  initial: "on",
  states: {
    on: {
      on: {
        ping: {
          actions: [
            assign({ n: ({ context }) => context.n + 1 }),
            sendTo(
              ({ event }) => event.from,
              ({ context }) => ({ type: "pong", n: context.n }),
            ),
          ],
        },
        later: { actions: sendParent(({ context }) => ({ type: "pong", n: -context.n - 1 }), { delay: 707 }) },
        end: "off",
      },
    },
    off: { type: "final" },
  },
});

const pingPong = setup({
  types: {} as {
    context: { heard: number[]; last: number | null };
    events: { type: "SERVE" } | { type: "SLOW" } | { type: "pong"; n: number } | { type: "STOP" } | { type: "PLAY" } | { type: "later" };
  },
  actors: { ponger },
}).createMachine({
  id: "pingPong",
  version: "1",
  context: { heard: [], last: null },
  initial: "playing",
  states: {
    playing: {
      invoke: { id: "other", src: "ponger", onDone: { target: "over", actions: assign({ last: ({ event }) => event.output.pings }) } },
      on: {
        SERVE: { actions: sendTo("other", ({ self }) => ({ type: "ping", from: self })) },
        SLOW: { actions: [sendTo("other", { type: "later" }), sendTo("other", ({ self }) => ({ type: "ping", from: self }), { delay: 511 })] },
        pong: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.n].slice(-5) }) },
        STOP: { actions: sendTo("other", { type: "end" }) },
        later: { actions: forwardTo("other") },
      },
      after: { 60_013: "over" },
    },
    over: { on: { PLAY: "playing", pong: { actions: assign({ last: ({ event }) => event.n }) } } },
  },
});

const toggle = setup({ types: {} as { context: { label: string; on: boolean }; input: { label: string }; events: { type: "flip" } } }).createMachine({
  id: "toggle",
  version: "1",
  context: ({ input }) => ({ label: input.label, on: false }),
  on: {
    flip: { actions: [assign({ on: ({ context }) => !context.on }), sendParent(({ context }) => ({ type: "flipped", label: context.label, on: context.on }))] },
  },
});

const toggleGroup = setup({
  types: {} as {
    context: { made: number; toggles: { label: string; ref: ActorRefFrom<typeof toggle> }[]; on: string[] };
    events: { type: "ADD" } | { type: "FLIP_ALL" } | { type: "FLIP_FIRST" } | { type: "REMOVE" } | { type: "flipped"; label: string; on: boolean };
  },
  actors: { toggle },
}).createMachine({
  id: "toggleGroup",
  version: "1",
  context: ({ spawn }) => ({ made: 1, toggles: [{ label: "t0", ref: spawn("toggle", { id: "t0", input: { label: "t0" } }) }], on: [] }),
  on: {
    ADD: {
      guard: ({ context }) => context.toggles.length < 4,
      actions: assign({
        made: ({ context }) => context.made + 1,
        toggles: ({ context, spawn }) => [
          ...context.toggles,
          { label: `t${context.made}`, ref: spawn("toggle", { id: `t${context.made}`, input: { label: `t${context.made}` } }) },
        ],
      }),
    },
    FLIP_ALL: { actions: enqueueActions(({ context, enqueue }) => context.toggles.forEach(({ ref }) => enqueue.sendTo(ref, { type: "flip" }))) },
    FLIP_FIRST: { guard: ({ context }) => context.toggles.length > 0, actions: sendTo(({ context }) => context.toggles[0]?.ref ?? never(), { type: "flip" }) },
    REMOVE: {
      guard: ({ context }) => context.toggles.length > 0,
      actions: [
        stopChild(({ context }) => context.toggles[0]?.ref ?? never()),
        assign({ toggles: ({ context }) => context.toggles.slice(1), on: ({ context }) => context.on.filter((label) => label !== context.toggles[0]?.label) }),
      ],
    },
    flipped: {
      actions: assign({ on: ({ context, event }) => (event.on ? [...context.on, event.label] : context.on.filter((label) => label !== event.label)) }),
    },
  },
});

const todo = setup({
  types: {} as {
    context: { text: string };
    input: { text: string };
    events: { type: "edit"; text: string } | { type: "complete" } | { type: "clear" };
    output: { text: string };
  },
}).createMachine({
  id: "todo",
  version: "1",
  context: ({ input }) => ({ text: input.text }),
  output: ({ context }) => ({ text: context.text }),
  initial: "open",
  states: {
    open: { on: { edit: { actions: [assign({ text: ({ event }) => event.text }), sendParent({ type: "edited" })] }, complete: "completed" } },
    completed: { after: { 86_400_001: "gone" }, on: { clear: "gone" } },
    gone: { type: "final" },
  },
});

const todoList = setup({
  types: {} as {
    context: { next: number; last: string | null; edits: number; ended: number };
    events:
      | { type: "NEW"; text: string }
      | { type: "edit"; text: string }
      | { type: "clear" }
      | { type: "edited" }
      | { type: "DROP" }
      | { type: "xstate.done.actor.todo-0"; output: { text: string } };
  },
  actors: { todo },
  guards: { hasLast: ({ context }) => context.last !== null },
}).createMachine({
  id: "todoList",
  version: "1",
  context: { next: 0, last: null, edits: 0, ended: 0 },
  on: {
    NEW: {
      guard: ({ context }) => context.next < 5,
      actions: [
        spawnChild("todo", { id: ({ context }) => `todo-${context.next}`, input: ({ event }) => ({ text: textOf(event) }) }),
        assign({ last: ({ context }) => `todo-${context.next}`, next: ({ context }) => context.next + 1 }),
      ],
    },
    edit: { guard: "hasLast", actions: forwardTo(({ context }) => context.last ?? never()) },
    clear: {
      guard: "hasLast",
      actions: enqueueActions(({ context, enqueue }) => {
        enqueue.stopChild(context.last ?? never());
        enqueue.assign({ last: null });
      }),
    },
    edited: { actions: assign({ edits: ({ context }) => context.edits + 1 }) },
    DROP: { actions: [stopChild("todo-0"), assign({ last: ({ context }) => (context.last === "todo-0" ? null : context.last) }), log("dropped")] },
    "xstate.done.actor.*": { actions: assign({ ended: ({ context }) => context.ended + 1 }) },
  },
});

const member = setup({
  types: {} as {
    context: { name: string; heard: string[] };
    input: { name: string };
    events: { type: "say"; text: string } | { type: "heard"; text: string } | { type: "leave" };
  },
}).createMachine({
  id: "member",
  version: "1",
  context: ({ input }) => ({ name: input.name, heard: [] }),
  entry: sendTo(
    ({ system }) => system.get("room"),
    ({ self, context }) => ({ type: "join", name: context.name, ref: self }),
  ),
  initial: "in",
  states: {
    in: {
      on: {
        say: {
          actions: sendTo(
            ({ system }) => system.get("room"),
            ({ event, context }) => ({ type: "post", text: `${context.name}: ${event.text}` }),
          ),
        },
        heard: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.text].slice(-4) }) },
        leave: "out",
      },
    },
    out: { type: "final" },
  },
});

const room = setup({
  types: {} as {
    context: { members: { name: string; ref: AnyActorRef }[]; posts: number };
    events: { type: "join"; name: string; ref: AnyActorRef } | { type: "post"; text: string };
  },
}).createMachine({
  id: "room",
  version: "1",
  context: { members: [], posts: 0 },
  on: {
    join: {
      actions: [
        assign({ members: ({ context, event }) => [...context.members, { name: event.name, ref: event.ref }].slice(-4) }),
        sendTo(({ event }) => event.ref, { type: "heard", text: "welcome" }),
      ],
    },
    post: {
      actions: enqueueActions(({ context, event, enqueue }) => {
        enqueue.assign({ posts: context.posts + 1 });
        for (const { ref } of context.members) enqueue.sendTo(ref, { type: "heard", text: event.text });
      }),
    },
  },
});

const chat = setup({
  types: {} as { context: { joined: number }; events: { type: "JOIN" } | { type: "ANNOUNCE" } | { type: "CLOSE" } | { type: "OPEN" } },
  actors: { room, member },
}).createMachine({
  id: "chat",
  version: "1",
  context: { joined: 0 },
  initial: "open",
  states: {
    open: {
      invoke: { id: "room", src: "room", systemId: "room" },
      on: {
        JOIN: {
          guard: ({ context }) => context.joined < 6,
          actions: [
            spawnChild("member", { id: ({ context }) => `m${context.joined}`, input: ({ context }) => ({ name: `m${context.joined}` }) }),
            assign({ joined: ({ context }) => context.joined + 1 }),
          ],
        },
        ANNOUNCE: {
          actions: sendTo(
            ({ system }) => system.get("room"),
            () => ({ type: "post", text: "closing soon" }),
            { delay: 1301 },
          ),
        },
        CLOSE: "closed",
      },
    },
    closed: { on: { OPEN: "open" } },
  },
});

const fragile = setup({
  types: {} as { context: { job: number }; input: { job: number }; events: { type: "break" } | { type: "hint" }; output: { job: number } },
  actors: { work: awaited<{ ok: boolean }, { job: number }>() },
}).createMachine({
  id: "fragile",
  version: "1",
  context: ({ input }) => ({ job: input.job }),
  output: ({ context }) => ({ job: context.job }),
  initial: "working",
  on: { hint: { actions: sendParent({ type: "xstate.error", data: { message: "a hint of trouble" } }) } },
  states: {
    // Without onError: what the promise throws ends this machine, and its parent hears of it.
    working: { invoke: { id: "work", src: "work", input: ({ context }) => ({ job: context.job }), onDone: "done" } },
    done: { type: "final" },
  },
});

const supervisor = setup({
  types: {} as { context: { job: number; restarts: number; why: string | null }; events: { type: "RETRY" }; tags: "degraded" },
  actors: { fragile },
  guards: { mayRestart: ({ context }) => context.restarts < 3 },
}).createMachine({
  id: "supervisor",
  version: "1",
  context: { job: 1, restarts: 0, why: null },
  initial: "running",
  states: {
    running: {
      invoke: {
        id: "worker",
        src: "fragile",
        input: ({ context }) => ({ job: context.job }),
        onDone: { target: "running", reenter: true, actions: assign({ job: ({ event }) => event.output.job + 1 }) },
        onError: [
          {
            guard: "mayRestart",
            target: "running",
            reenter: true,
            actions: assign({ restarts: ({ context }) => context.restarts + 1, why: ({ event }) => messageOf(event.error) }),
          },
          { target: "degraded", actions: assign({ why: ({ event }) => messageOf(event.error) }) },
        ],
      },
    },
    degraded: { tags: "degraded", on: { RETRY: { target: "running", actions: assign({ restarts: 0 }) } } },
  },
});

const leaf = setup({
  types: {} as { events: { type: "fail" } | { type: "collapse" }; context: object },
  actors: { risk: awaited<null>() },
  actions: {
    warn: sendTo(
      ({ system }) => system.get("log"),
      () => ({ type: "entry", text: "risk" }),
    ),
  },
}).createMachine({
  id: "leaf",
  version: "1",
  context: {},
  entry: "warn",
  invoke: { id: "risk", src: "risk" },
  on: {
    fail: { actions: sendParent({ type: "failing" }) },
    collapse: { actions: sendParent({ type: "xstate.error", data: { message: "collapsed" } }) },
  },
});

const branch = setup({ types: {} as { events: { type: "failing" } | { type: "nothing" }; context: { warned: number } }, actors: { leaf } }).createMachine({
  id: "branch",
  version: "1",
  context: { warned: 0 },
  invoke: { id: "leaf", src: "leaf" },
  on: {
    failing: {
      actions: [
        assign({ warned: ({ context }) => context.warned + 1 }),
        sendTo(
          ({ system }) => system.get("log"),
          () => ({ type: "entry", text: "failing" }),
        ),
      ],
    },
  },
});

const logBook = setup({ types: {} as { context: { entries: string[] }; events: { type: "entry"; text: string } } }).createMachine({
  id: "logBook",
  version: "1",
  context: { entries: [] },
  on: { entry: { actions: assign({ entries: ({ context, event }) => [...context.entries, event.text].slice(-6) }) } },
});

/** An error that nobody handles goes up to the root and ends it. */
const taskTree = setup({ types: {} as { context: object; events: { type: "POKE" } }, actors: { branch, logBook } }).createMachine({
  id: "taskTree",
  version: "1",
  context: {},
  invoke: [
    { id: "logBook", src: "logBook", systemId: "log" },
    { id: "branch", src: "branch" },
  ],
  on: { POKE: { actions: sendTo("branch", { type: "nothing" }) } },
});

const poolWorker = setup({
  types: {} as { context: { n: number; boss: AnyActorRef }; input: { n: number; boss: AnyActorRef }; events: { type: "job"; id: number } | { type: "rest" } },
  actors: { job: awaited<{ id: number }, { n: number }>() },
}).createMachine({
  id: "poolWorker",
  version: "1",
  context: ({ input }) => ({ n: input.n, boss: input.boss }),
  initial: "idle",
  states: {
    idle: { on: { job: "busy", rest: "gone" } },
    busy: {
      invoke: {
        id: "job",
        src: "job",
        input: ({ context }) => ({ n: context.n }),
        onDone: {
          target: "idle",
          actions: sendTo(
            ({ context }) => context.boss,
            ({ event, context }) => ({ type: "finished", by: context.n, id: event.output.id }),
          ),
        },
        onError: {
          target: "idle",
          actions: sendTo(
            ({ context }) => context.boss,
            ({ context }) => ({ type: "finished", by: context.n, id: -1 }),
          ),
        },
      },
      on: { rest: { target: "gone" } },
    },
    gone: { type: "final" },
  },
});

const pool = setup({
  types: {} as {
    context: { n: number; finished: number[] };
    events: { type: "HIRE" } | { type: "FIRE" } | { type: "JOB"; id: number } | { type: "finished"; by: number; id: number } | { type: "REPLACE" };
  },
  actors: { poolWorker },
  guards: { isEmpty: ({ context }) => context.n % 2 === 0 },
}).createMachine({
  id: "pool",
  version: "1",
  context: { n: 0, finished: [] },
  on: {
    HIRE: {
      guard: "isEmpty",
      actions: [
        assign({ n: ({ context }) => context.n + 1 }),
        spawnChild("poolWorker", { id: "worker", systemId: "worker", input: ({ context, self }) => ({ n: context.n, boss: self }) }),
      ],
    },
    JOB: {
      guard: ({ context }) => context.n % 2 === 1,
      actions: sendTo(
        ({ system }) => system.get("worker"),
        ({ event }) => ({ type: "job", id: event.id }),
      ),
    },
    FIRE: { guard: ({ context }) => context.n % 2 === 1, actions: [stopChild("worker"), assign({ n: ({ context }) => context.n + 1 })] },
    // The system id is free at once.
    REPLACE: {
      guard: ({ context }) => context.n % 2 === 1,
      actions: enqueueActions(({ context, enqueue, self }) => {
        enqueue.stopChild("worker");
        enqueue.spawnChild("poolWorker", { id: "worker", systemId: "worker", input: { n: context.n, boss: self } });
        enqueue.sendTo(
          ({ system }) => system.get("worker"),
          () => ({ type: "job", id: context.n }),
        );
      }),
    },
    finished: { actions: assign({ finished: ({ context, event }) => [...context.finished, event.id].slice(-5) }) },
  },
});

const heart = setup({
  types: {} as { context: { beats: number }; events: { type: "skip" } | { type: "beat" } },
  delays: { pause: ({ context }) => 1000 + context.beats * 7 },
}).createMachine({
  id: "heart",
  version: "1",
  context: { beats: 0 },
  initial: "beating",
  states: {
    beating: {
      entry: [sendParent({ type: "alive" }), raise({ type: "beat" }, { id: "beat", delay: "pause" })],
      on: { beat: { target: "beating", reenter: true, actions: assign({ beats: ({ context }) => (context.beats + 1) % 50 }) }, skip: "skipping" },
    },
    skipping: { after: { 7919: "beating" } },
  },
});

const watchdog = setup({
  types: {} as { context: { alive: number; alarms: number }; events: { type: "alive" } | { type: "silence" } | { type: "REVIVE" } | { type: "SKIP" } },
  actors: { heart },
  actions: { page: does<{ alarms: number }>("watchdog.page"), expectLife: sendTo(({ self }) => self, { type: "silence" }, { id: "silence", delay: 5003 }) },
}).createMachine({
  id: "watchdog",
  version: "1",
  context: { alive: 0, alarms: 0 },
  initial: "watching",
  states: {
    watching: {
      invoke: { id: "heart", src: "heart" },
      on: {
        alive: {
          actions: enqueueActions(({ enqueue }) => {
            enqueue.cancel("silence");
            enqueue("expectLife");
            enqueue.assign({ alive: ({ context }) => context.alive + 1 });
          }),
        },
        SKIP: { actions: sendTo("heart", { type: "skip" }) },
        silence: {
          target: "alarmed",
          actions: [assign({ alarms: ({ context }) => context.alarms + 1 }), { type: "page", params: ({ context }) => ({ alarms: context.alarms }) }],
        },
      },
      exit: enqueueActions(({ enqueue }) => enqueue.cancel("silence")),
    },
    alarmed: { on: { REVIVE: "watching" } },
  },
});

const runner = setup({
  types: {} as {
    context: { name: string; next: AnyActorRef | null };
    input: { name: string; next: AnyActorRef | null };
    events: { type: "baton"; laps: number };
    emitted: { type: "ran"; by: string };
  },
}).createMachine({
  id: "runner",
  version: "1",
  context: ({ input }) => ({ name: input.name, next: input.next }),
  initial: "waiting",
  states: {
    waiting: { on: { baton: "running" } },
    running: {
      entry: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== "baton") return;
        enqueue.emit({ type: "ran", by: context.name });
        // The target is named now; the baton arrives later.
        if (context.next) enqueue.sendTo(context.next, { type: "baton", laps: event.laps + 1 }, { delay: 201 + event.laps * 17 });
        else enqueue.sendParent({ type: "finish", laps: event.laps });
      }),
      after: { 211: "waiting" },
    },
  },
});

const relay = setup({
  types: {} as {
    context: { finishes: number[]; first: AnyActorRef | null };
    events: { type: "START" } | { type: "finish"; laps: number } | { type: "SCATTER" };
  },
  actors: { runner },
}).createMachine({
  id: "relay",
  version: "1",
  context: ({ spawn }) => {
    const last = spawn("runner", { id: "last", input: { name: "last", next: null } });
    const middle = spawn("runner", { id: "middle", input: { name: "middle", next: last } });
    return { finishes: [], first: spawn("runner", { id: "first", input: { name: "first", next: middle } }) };
  },
  on: {
    START: { guard: ({ context }) => context.first !== null, actions: sendTo(({ context }) => context.first ?? never(), { type: "baton", laps: 1 }) },
    finish: { actions: assign({ finishes: ({ context, event }) => [...context.finishes, event.laps].slice(-5) }) },
    SCATTER: { guard: ({ context }) => context.first !== null, actions: [stopChild("middle"), assign({ first: null })] },
  },
});

const participant = setup({
  types: {} as {
    context: { n: number };
    input: { n: number };
    events: { type: "prepare"; to: AnyActorRef } | { type: "commit" } | { type: "abort" };
    output: string;
  },
  actors: { prepare: awaited<{ yes: boolean }, { n: number }>() },
}).createMachine({
  id: "participant",
  version: "1",
  context: ({ input }) => ({ n: input.n }),
  output: ({ event }) => String(event.output),
  initial: "idle",
  states: {
    idle: { on: { prepare: "preparing", abort: "aborted" } },
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context }) => ({ n: context.n }),
        onDone: [
          { guard: ({ event }) => event.output.yes, target: "prepared", actions: sendParent(({ context }) => ({ type: "vote", n: context.n, yes: true })) },
          { target: "prepared", actions: sendParent(({ context }) => ({ type: "vote", n: context.n, yes: false })) },
        ],
        onError: { target: "prepared", actions: sendParent(({ context }) => ({ type: "vote", n: context.n, yes: false })) },
      },
      on: { abort: "aborted" },
    },
    prepared: { on: { commit: "committed", abort: "aborted" } },
    committed: { type: "final", output: "committed" },
    aborted: { type: "final", output: "aborted" },
  },
});

const coordinator = setup({
  types: {} as {
    context: { refs: ActorRefFrom<typeof participant>[]; votes: number[]; ends: string[] };
    events:
      | { type: "BEGIN" }
      | { type: "vote"; n: number; yes: boolean }
      | { type: "GIVE_UP" }
      | { type: "xstate.done.actor.p1" | "xstate.done.actor.p2"; output: string };
    output: string;
  },
  actors: { participant },
  actions: {
    all: enqueueActions(({ context, enqueue, self }, what: "prepare" | "commit" | "abort") =>
      context.refs.forEach((ref) => enqueue.sendTo(ref, what === "prepare" ? { type: what, to: self } : { type: what })),
    ),
    noteEnd: assign({ ends: ({ context }, end: string) => [...context.ends, end] }),
  },
}).createMachine({
  id: "coordinator",
  version: "1",
  context: ({ spawn }) => ({ refs: [1, 2, 3].map((n) => spawn("participant", { id: `p${n}`, input: { n } })), votes: [], ends: [] }),
  output: ({ context }) => context.ends.join(" "),
  initial: "idle",
  on: {
    "xstate.done.actor.p1": { actions: { type: "noteEnd", params: ({ event }) => `p1 ${event.output}` } },
    "xstate.done.actor.p2": { actions: { type: "noteEnd", params: ({ event }) => `p2 ${event.output}` } },
  },
  states: {
    idle: { on: { BEGIN: "voting" } },
    voting: {
      entry: { type: "all", params: "prepare" },
      on: {
        vote: [{ guard: ({ event }) => !event.yes, target: "aborting" }, { actions: assign({ votes: ({ context, event }) => [...context.votes, event.n] }) }],
        GIVE_UP: "aborting",
      },
      always: { guard: ({ context }) => context.votes.length === 3, target: "committing" },
      after: { 10_007: "aborting" },
    },
    committing: { entry: { type: "all", params: "commit" }, after: { 503: "over" } },
    aborting: { entry: [{ type: "all", params: "abort" }, stopChild("p3")], after: { 509: "over" } },
    over: { type: "final" },
  },
});

const uploadPart = setup({
  types: {} as { context: { name: string; tries: number }; input: { name: string }; events: { type: "again" }; output: { name: string } },
  actors: { put: awaited<null, { name: string }>() },
}).createMachine({
  id: "uploadPart",
  version: "1",
  context: ({ input }) => ({ name: input.name, tries: 0 }),
  output: ({ context }) => ({ name: context.name }),
  initial: "putting",
  states: {
    putting: {
      entry: assign({ tries: ({ context }) => context.tries + 1 }),
      invoke: {
        id: "put",
        src: "put",
        input: ({ context }) => ({ name: context.name }),
        onDone: "put",
        onError: [{ guard: ({ context }) => context.tries < 2, target: "resting" }, { target: "broken" }],
      },
    },
    resting: { after: { 1409: "putting" } },
    broken: { on: { again: "putting" } },
    put: { type: "final" },
  },
});

const upload = setup({
  types: {} as {
    context: { done: string[] };
    events: { type: "CANCEL" } | { type: "AGAIN" };
    output: { done: string[] };
    emitted: { type: "progress"; done: number };
  },
  actors: { uploadPart },
  guards: { headGoes: stateIn({ uploading: { head: "going" } }) },
  actions: {
    keep: assign({ done: ({ context }, name: string) => [...context.done, name] }),
    tell: emit(({ context }) => ({ type: "progress", done: context.done.length })),
    beep: traced("beep"),
  },
}).createMachine({
  id: "upload",
  version: "1",
  context: { done: [] },
  output: ({ context }) => ({ done: context.done }),
  initial: "uploading",
  states: {
    uploading: {
      type: "parallel",
      on: { CANCEL: "cancelled", AGAIN: { guard: "headGoes", actions: [sendTo("head", { type: "again" }, { delay: 3 }), "beep"] } },
      states: {
        head: {
          initial: "going",
          states: {
            going: {
              invoke: {
                id: "head",
                src: "uploadPart",
                input: { name: "head" },
                onDone: { target: "gone", actions: [{ type: "keep", params: ({ event }) => event.output.name }, "tell"] },
              },
            },
            gone: { type: "final" },
          },
        },
        body: {
          initial: "going",
          states: {
            going: {
              invoke: {
                id: "body",
                src: "uploadPart",
                input: { name: "body" },
                onDone: { target: "gone", actions: [{ type: "keep", params: ({ event }) => event.output.name }, "tell"] },
              },
            },
            gone: { type: "final" },
          },
        },
      },
      onDone: "complete",
    },
    cancelled: { on: { AGAIN: { target: "uploading", actions: assign({ done: [] }) } } },
    complete: { type: "final" },
  },
});

function never(): never {
  throw new Error("there is none");
}

function textOf(event: object): string {
  return "text" in event ? String(event.text) : "";
}

function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}

export const families: readonly Subject[] = [
  {
    machine: pingPong,
    children: [ponger],
    events: {
      pingPong: [{ type: "SERVE" }, { type: "SLOW" }, { type: "STOP" }, { type: "PLAY" }, { type: "PLAY" }, { type: "later" }],
      ponger: [{ type: "later" }, { type: "end" }],
    },
  },
  {
    machine: toggleGroup,
    children: [toggle],
    events: { toggleGroup: [{ type: "ADD" }, { type: "ADD" }, { type: "FLIP_ALL" }, { type: "FLIP_FIRST" }, { type: "REMOVE" }], toggle: [{ type: "flip" }] },
  },
  {
    machine: todoList,
    children: [todo],
    events: {
      todoList: [{ type: "NEW", text: "milk" }, { type: "NEW", text: "bread" }, { type: "edit", text: "more milk" }, { type: "clear" }, { type: "DROP" }],
      todo: [{ type: "edit", text: "tea" }, { type: "complete" }, { type: "clear" }],
    },
  },
  {
    machine: chat,
    children: [room, member],
    events: {
      chat: [{ type: "JOIN" }, { type: "JOIN" }, { type: "ANNOUNCE" }, { type: "CLOSE" }, { type: "OPEN" }, { type: "OPEN" }],
      member: [{ type: "say", text: "hello" }, { type: "say", text: "bye" }, { type: "leave" }],
      room: [{ type: "post", text: "notice" }],
    },
  },
  {
    machine: supervisor,
    children: [fragile],
    events: { supervisor: [{ type: "RETRY" }], fragile: [{ type: "hint" }] },
    outcomes: { work: [{ output: { ok: true } }, { error: "crashed" }] },
  },
  {
    machine: taskTree,
    children: [branch, leaf, logBook],
    events: {
      taskTree: [{ type: "POKE" }],
      branch: [{ type: "failing" }],
      leaf: [{ type: "fail" }, { type: "fail" }, { type: "fail" }, { type: "collapse" }],
      logBook: [{ type: "entry", text: "note" }],
    },
    outcomes: { risk: [{ output: null }, { error: "it broke" }] },
  },
  {
    machine: pool,
    children: [poolWorker],
    events: {
      pool: [{ type: "HIRE" }, { type: "JOB", id: 1 }, { type: "JOB", id: 2 }, { type: "FIRE" }, { type: "REPLACE" }],
      poolWorker: [{ type: "job", id: 9 }],
    },
    outcomes: { job: [{ output: { id: 7 } }, { error: "no" }] },
  },
  { machine: watchdog, children: [heart], events: { watchdog: [{ type: "REVIVE" }, { type: "SKIP" }], heart: [{ type: "skip" }] } },
  { machine: relay, children: [runner], events: { relay: [{ type: "START" }, { type: "START" }, { type: "SCATTER" }], runner: [{ type: "baton", laps: 5 }] } },
  {
    machine: coordinator,
    children: [participant],
    events: { coordinator: [{ type: "BEGIN" }, { type: "GIVE_UP" }], participant: [{ type: "abort" }] },
    outcomes: { prepare: [{ output: { yes: true } }, { output: { yes: true } }, { output: { yes: false } }, { error: "gone" }] },
  },
  {
    machine: upload,
    children: [uploadPart],
    events: { upload: [{ type: "CANCEL" }, { type: "AGAIN" }, { type: "AGAIN" }], uploadPart: [{ type: "again" }] },
    outcomes: { put: [{ output: null }, { error: "slow" }] },
  },
];
