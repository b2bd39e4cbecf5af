/** Machines without company: nested and parallel states, history, guards, timers. */
import { and, assign, cancel, emit, enqueueActions, log, not, or, raise, setup, stateIn } from "xstate";
import { does, traced, type Subject } from "./subject.ts";

const wizard = setup({
  types: {} as {
    context: { name: string; city: string };
    events: { type: "NEXT" } | { type: "BACK" } | { type: "FILL"; name: string; city: string } | { type: "HELP" } | { type: "CLOSE" } | { type: "CANCEL" };
    output: { name: string; city: string } | null;
    meta: { title: string };
  },
  guards: { hasName: ({ context }) => context.name !== "", hasCity: ({ context }) => context.city !== "" },
}).createMachine({
  id: "wizard",
  version: "1",
  context: { name: "", city: "" },
  output: ({ context, event }) => (event.output === "cancelled" ? null : context),
  initial: "form",
  states: {
    form: {
      initial: "name",
      on: { HELP: "help", CANCEL: "cancelled", FILL: { actions: assign({ name: ({ event }) => event.name, city: ({ event }) => event.city }) } },
      states: {
        name: { meta: { title: "Your name" }, on: { NEXT: { guard: "hasName", target: "city" } } },
        city: { meta: { title: "Your city" }, on: { NEXT: { guard: and(["hasName", "hasCity"]), target: "check" }, BACK: "name" } },
        check: { meta: { title: "All right?" }, on: { NEXT: "sent", BACK: "city" } },
        sent: { type: "final", output: "sent" },
        last: { type: "history" },
      },
      onDone: "done",
    },
    help: { on: { CLOSE: "form.last", CANCEL: "cancelled" } },
    done: { type: "final", output: "done" },
    cancelled: { type: "final", output: "cancelled" },
  },
});

const player = setup({
  types: {} as {
    context: { track: number; volume: number };
    events:
      | { type: "PLAY" }
      | { type: "PAUSE" }
      | { type: "STOP" }
      | { type: "MUTE" }
      | { type: "UNMUTE" }
      | { type: "LOUDER" }
      | { type: "SKIP" }
      | { type: "PARTY" };
    emitted: { type: "track"; n: number };
    tags: "sounding" | "silent";
  },
  guards: { isPlaying: stateIn({ playback: "playing" }), canGoUp: ({ context }) => context.volume < 3 },
  actions: { show: does<{ text: string }>("player.show"), click: traced("click") },
}).createMachine({
  id: "player",
  version: "1",
  context: { track: 1, volume: 1 },
  type: "parallel",
  on: { PARTY: { target: [".playback.playing", ".sound.on"] } },
  states: {
    playback: {
      initial: "stopped",
      states: {
        stopped: { on: { PLAY: "playing" } },
        playing: {
          tags: "sounding",
          entry: [
            { type: "show", params: ({ context }) => ({ text: `track ${context.track}` }) },
            emit(({ context }) => ({ type: "track", n: context.track })),
          ],
          after: { 180_001: { target: "playing", reenter: true, actions: assign({ track: ({ context }) => context.track + 1 }) } },
          on: { PAUSE: "paused", STOP: "stopped", SKIP: { target: "playing", reenter: true, actions: assign({ track: ({ context }) => context.track + 1 }) } },
        },
        paused: { on: { PLAY: "playing", STOP: "stopped" } },
      },
    },
    sound: {
      initial: "on",
      states: {
        on: {
          on: {
            MUTE: { guard: "isPlaying", target: "off" },
            LOUDER: { guard: "canGoUp", actions: [assign({ volume: ({ context }) => context.volume + 1 }), "click"] },
          },
        },
        off: { tags: "silent", on: { UNMUTE: "on", STOP: "on" } },
      },
    },
  },
});

const editor = setup({
  types: {} as {
    context: { words: number };
    events: { type: "BOLD" } | { type: "LIST" } | { type: "SUSPEND" } | { type: "RESUME" } | { type: "RESUME_SHALLOW" } | { type: "TYPE" } | { type: "VIEW" };
  },
}).createMachine({
  id: "editor",
  version: "1",
  context: { words: 0 },
  initial: "writing",
  states: {
    writing: {
      type: "parallel",
      on: { SUSPEND: "asleep", TYPE: { actions: assign({ words: ({ context }) => context.words + 1 }) } },
      states: {
        text: {
          initial: "plain",
          states: {
            plain: { on: { BOLD: "bold", LIST: "list" } },
            bold: { initial: "once", on: { BOLD: "plain" }, states: { once: { on: { TYPE: "more" } }, more: {} } },
            list: { on: { LIST: "plain" } },
            last: { type: "history", history: "shallow" },
          },
        },
        view: { initial: "page", states: { page: { on: { VIEW: "outline" } }, outline: { on: { VIEW: "page" } } } },
        all: { type: "history", history: "deep" },
      },
    },
    asleep: { on: { RESUME: "writing.all", RESUME_SHALLOW: "writing.text.last" }, after: { 60_007: "dreaming" } },
    dreaming: { on: { RESUME: "#editor.writing.all" } },
  },
});

const trafficLight = setup({
  types: {} as {
    context: { rounds: number };
    events: { type: "BUTTON" } | { type: "BREAK" } | { type: "REPAIR" } | { type: "RESET" };
    meta: { colour: string };
  },
  delays: { greenTime: ({ context }) => 20_000 + context.rounds * 13, yellowTime: 3001, redTime: 15_003 },
}).createMachine({
  id: "trafficLight",
  version: "1",
  context: { rounds: 0 },
  initial: "working",
  on: { RESET: { target: ".working", reenter: true } },
  states: {
    working: {
      initial: "green",
      on: { BREAK: "broken" },
      states: {
        green: { meta: { colour: "green" }, after: { greenTime: "yellow" }, on: { BUTTON: "yellow" } },
        yellow: { meta: { colour: "yellow" }, after: { yellowTime: "red" } },
        red: {
          meta: { colour: "red" },
          entry: assign({ rounds: ({ context }) => context.rounds + 1 }),
          initial: "walk",
          after: { redTime: "green" },
          states: { walk: { after: { 9001: "hurry" } }, hurry: { after: { 3007: "stop" } }, stop: {} },
        },
        where: { type: "history", history: "deep" },
      },
    },
    broken: {
      initial: "dark",
      states: { dark: { after: { 1009: "lit" } }, lit: { after: { 1013: "dark" } } },
      on: { REPAIR: "working.where", RESET: undefined },
    },
  },
});

const elevator = setup({
  types: {} as {
    context: { floor: number; calls: number[]; door: string };
    events: { type: "CALL"; floor: number } | { type: "BLOCK" } | { type: "UNBLOCK" } | { type: "ALARM" };
  },
  guards: {
    isCalledHere: ({ context }) => context.calls.includes(context.floor),
    hasCalls: ({ context }) => context.calls.length > 0,
    isAbove: ({ context }) => context.calls.some((floor) => floor > context.floor),
    isBelow: ({ context }) => context.calls.some((floor) => floor < context.floor),
    isBlocked: ({ context }) => context.door === "blocked",
  },
  actions: { up: assign({ floor: ({ context }) => context.floor + 1 }), down: assign({ floor: ({ context }) => context.floor - 1 }) },
}).createMachine({
  id: "elevator",
  version: "1",
  context: { floor: 0, calls: [], door: "free" },
  initial: "resting",
  on: {
    CALL: {
      guard: ({ context, event }) => !context.calls.includes(event.floor),
      actions: assign({ calls: ({ context, event }) => [...context.calls, event.floor] }),
    },
    BLOCK: { actions: assign({ door: "blocked" }) },
    UNBLOCK: { actions: assign({ door: "free" }) },
    ALARM: { target: ".resting", actions: assign({ calls: [] }) },
  },
  states: {
    resting: {
      always: [
        { guard: "isCalledHere", target: "open" },
        { guard: and(["hasCalls", not("isBlocked")]), target: "moving" },
      ],
    },
    moving: {
      always: { guard: not("hasCalls"), target: "resting" },
      after: {
        4001: [
          { guard: "isAbove", target: "arriving", actions: "up" },
          { guard: "isBelow", target: "arriving", actions: "down" },
        ],
      },
    },
    arriving: { always: [{ guard: or(["isCalledHere", not("hasCalls")]), target: "open" }, { target: "moving" }] },
    open: {
      entry: assign({ calls: ({ context }) => context.calls.filter((floor) => floor !== context.floor) }),
      after: { 6007: { guard: not("isBlocked"), target: "resting" } },
      on: { UNBLOCK: { target: "resting", actions: assign({ door: "free" }) } },
    },
  },
});

const vendingMachine = setup({
  types: {} as {
    context: { coins: number; sold: string[] };
    events: { type: "COIN"; value: number } | { type: "CHOOSE"; item: string; price: number } | { type: "REFUND" };
    emitted: { type: "change"; value: number };
  },
  guards: { canPay: ({ context }, price: number) => context.coins >= price },
  actions: {
    insert: assign({ coins: ({ context }, value: number) => context.coins + value }),
    sell: assign(({ context }, sold: { item: string; price: number }) => ({ coins: context.coins - sold.price, sold: [...context.sold, sold.item].slice(-5) })),
    drop: does<{ item: string }>("vending.drop"),
    noteSale: log(({ context }) => context.sold.length, "sold"),
  },
}).createMachine({
  id: "vendingMachine",
  version: "1",
  context: { coins: 0, sold: [] },
  initial: "ready",
  states: {
    ready: {
      on: {
        COIN: { actions: { type: "insert", params: ({ event }) => event.value } },
        CHOOSE: [
          {
            guard: { type: "canPay", params: ({ event }) => event.price },
            target: "dropping",
            actions: [
              { type: "sell", params: ({ event }) => ({ item: event.item, price: event.price }) },
              { type: "drop", params: ({ event }) => ({ item: event.item }) },
              "noteSale",
            ],
          },
          { actions: log("not enough") },
        ],
        REFUND: {
          guard: not(({ context }) => context.coins === 0),
          actions: [emit(({ context }) => ({ type: "change", value: context.coins })), assign({ coins: 0 })],
        },
      },
    },
    dropping: { after: { 2003: "ready" } },
  },
});

const countdown = setup({
  types: {} as {
    context: { left: number };
    input: { seconds: number };
    events: { type: "START" } | { type: "PAUSE" } | { type: "RESUME" } | { type: "TICK" } | { type: "ADD" };
    output: string;
  },
  delays: { second: 1000 },
}).createMachine({
  id: "countdown",
  version: "1",
  context: ({ input }) => ({ left: input.seconds }),
  output: "rang",
  initial: "set",
  states: {
    set: { on: { START: "running" } },
    running: {
      initial: "ticking",
      always: { guard: ({ context }) => context.left <= 0, target: "over" },
      on: { PAUSE: "paused", ADD: { actions: assign({ left: ({ context }) => context.left + 2 }) } },
      states: {
        ticking: {
          entry: raise({ type: "TICK" }, { id: "tick", delay: "second" }),
          exit: cancel("tick"),
          on: { TICK: { target: "ticking", reenter: true, actions: assign({ left: ({ context }) => context.left - 1 }) } },
        },
        here: { type: "history" },
      },
    },
    paused: { on: { RESUME: "running.here", ADD: { actions: assign({ left: ({ context }) => context.left + 2 }) } } },
    over: { type: "final" },
  },
});

const signUpForm = setup({
  types: {} as {
    context: { mail: string; word: string; sent: number };
    events: { type: "MAIL"; text: string } | { type: "WORD"; text: string } | { type: "SUBMIT" };
  },
  guards: {
    isMail: ({ context }) => context.mail.includes("@"),
    isLong: ({ context }) => context.word.length > 3,
    areValid: and([stateIn({ mail: "valid" }), stateIn({ word: "valid" })]),
  },
  actions: { post: does("form.post") },
}).createMachine({
  id: "signUpForm",
  version: "1",
  context: { mail: "", word: "", sent: 0 },
  type: "parallel",
  on: {
    MAIL: { actions: assign({ mail: ({ event }) => event.text }) },
    WORD: { actions: assign({ word: ({ event }) => event.text }) },
    SUBMIT: { guard: "areValid", actions: [assign({ sent: ({ context }) => context.sent + 1 }), "post"] },
  },
  states: {
    mail: {
      initial: "invalid",
      states: { invalid: { always: { guard: "isMail", target: "valid" } }, valid: { always: { guard: not("isMail"), target: "invalid" } } },
    },
    word: {
      initial: "invalid",
      states: { invalid: { always: { guard: "isLong", target: "valid" } }, valid: { always: { guard: not("isLong"), target: "invalid" } } },
    },
  },
});

const cart = setup({
  types: {} as {
    context: { items: { name: string; n: number }[]; coupon: boolean };
    events: { type: "ADD"; name: string } | { type: "REMOVE"; name: string } | { type: "COUPON" } | { type: "CHECKOUT" };
    emitted: { type: "changed"; lines: number } | { type: "empty" };
    output: { lines: number; coupon: boolean };
  },
  guards: { isEmpty: ({ context }) => context.items.length === 0, hasCoupon: ({ context }) => context.coupon },
  actions: { beep: traced<{ times: number }>("beep") },
}).createMachine({
  id: "cart",
  version: "1",
  context: { items: [], coupon: false },
  output: ({ context }) => ({ lines: context.items.length, coupon: context.coupon }),
  initial: "open",
  states: {
    open: {
      on: {
        ADD: {
          actions: enqueueActions(({ context, event, enqueue, check }) => {
            const known = context.items.some((item) => item.name === event.name);
            enqueue.assign({
              items: known
                ? context.items.map((item) => (item.name === event.name ? { ...item, n: item.n + 1 } : item))
                : [...context.items, { name: event.name, n: 1 }],
            });
            enqueue.emit(({ context: after }) => ({ type: "changed", lines: after.items.length }));
            if (check(not("hasCoupon"))) enqueue({ type: "beep", params: { times: 1 } });
          }),
        },
        REMOVE: {
          actions: enqueueActions(({ context, event, enqueue, check }) => {
            const items = context.items.filter((item) => item.name !== event.name);
            enqueue.assign({ items });
            if (items.length === 0 && !check("isEmpty")) enqueue.emit({ type: "empty" });
          }),
        },
        COUPON: { guard: not(or(["isEmpty", "hasCoupon"])), actions: assign({ coupon: true }) },
        CHECKOUT: { guard: not("isEmpty"), target: "paid" },
      },
    },
    paid: { type: "final" },
  },
});

const auction = setup({
  types: {} as {
    context: { best: number; by: string | null; extensions: number };
    events: { type: "BID"; by: string; amount: number } | { type: "CLOSE" } | { type: "WITHDRAW" };
    output: { by: string | null; at: number };
  },
  delays: { patience: ({ context }) => 30_000 - context.extensions * 1009 },
  guards: { isHigher: ({ context }, amount: number) => amount > context.best },
}).createMachine({
  id: "auction",
  version: "1",
  context: { best: 0, by: null, extensions: 0 },
  output: ({ context }) => ({ by: context.by, at: context.best }),
  initial: "open",
  states: {
    open: {
      entry: raise({ type: "CLOSE" }, { id: "close", delay: "patience" }),
      on: {
        BID: {
          guard: { type: "isHigher", params: ({ event }) => event.amount },
          actions: [
            assign({ best: ({ event }) => event.amount, by: ({ event }) => event.by, extensions: ({ context }) => Math.min(context.extensions + 1, 20) }),
            cancel("close"),
            raise({ type: "CLOSE" }, { id: "close", delay: "patience" }),
          ],
        },
        WITHDRAW: { target: "open", reenter: true, actions: [cancel("close"), assign({ best: 0, by: null })] },
        CLOSE: [{ guard: ({ context }) => context.by !== null, target: "sold" }, { target: "unsold" }],
      },
    },
    unsold: { on: { WITHDRAW: "open" } },
    sold: { type: "final" },
  },
});

const thermostat = setup({
  types: {} as {
    context: { degrees: number; target: number };
    events: { type: "MEASURE"; degrees: number } | { type: "SET"; target: number } | { type: "MODE" };
  },
  guards: {
    isCold: ({ context }) => context.degrees < context.target - 1,
    isWarm: ({ context }) => context.degrees > context.target + 1,
    isAuto: stateIn("#auto"),
  },
  actions: { valve: does<{ open: boolean }>("heating.valve") },
}).createMachine({
  id: "thermostat",
  version: "1",
  context: { degrees: 18, target: 20 },
  type: "parallel",
  on: { MEASURE: { actions: assign({ degrees: ({ event }) => event.degrees }) }, SET: { actions: assign({ target: ({ event }) => event.target }) } },
  states: {
    mode: { initial: "auto", states: { auto: { id: "auto", on: { MODE: "manual" } }, manual: { on: { MODE: "auto" }, after: { 3_600_007: "auto" } } } },
    heating: {
      initial: "off",
      states: {
        off: { entry: { type: "valve", params: { open: false } }, always: { guard: and(["isAuto", "isCold"]), target: "on" } },
        on: { entry: { type: "valve", params: { open: true } }, always: { guard: or([not("isAuto"), "isWarm"]), target: "off" } },
      },
    },
  },
});

const doorLock = setup({
  types: {} as {
    context: { alarms: number; strange: number; opened: number };
    events: { type: "UNLOCK" } | { type: "OPEN" } | { type: "SHUT" } | { type: "LOCK" } | { type: "alarm.fire" } | { type: "alarm.theft" } | { type: "odd" };
  },
  actions: { count: assign({ strange: ({ context }) => context.strange + 1 }), ring: traced("ring") },
}).createMachine({
  id: "doorLock",
  version: "1",
  context: { alarms: 0, strange: 0, opened: 0 },
  initial: "locked",
  on: { "alarm.*": { target: ".open", actions: [assign({ alarms: ({ context }) => context.alarms + 1 }), "ring"] }, "*": { actions: "count" } },
  states: {
    locked: { on: { UNLOCK: "closed", "alarm.theft": undefined, OPEN: {} } },
    closed: { on: { OPEN: "open", LOCK: "locked" }, after: { 30_011: "locked" } },
    open: {
      entry: assign({ opened: ({ context }) => context.opened + 1 }),
      on: { SHUT: "closed", OPEN: { target: "open", reenter: true }, LOCK: { actions: [raise({ type: "SHUT" }), raise({ type: "LOCK" })] } },
    },
  },
});

const lightShow = setup({
  types: {} as {
    context: { said: string[] };
    events: { type: "GO" } | { type: "LEFT" } | { type: "RIGHT" } | { type: "JUMP" } | { type: "chain"; n: number } | { type: "AGAIN" };
    tags: "lit";
  },
  actions: { say: assign({ said: ({ context }, what: string) => [...context.said, what].slice(-6) }) },
}).createMachine({
  id: "lightShow",
  version: "1",
  context: { said: [] },
  initial: "dark",
  on: {
    chain: [
      {
        guard: ({ event }) => event.n > 0,
        actions: [{ type: "say", params: ({ event }) => `chain ${event.n}` }, raise(({ event }) => ({ type: "chain", n: event.n - 1 }))],
      },
      { actions: { type: "say", params: "end" } },
    ],
  },
  states: {
    dark: {
      on: {
        GO: "both",
        JUMP: { target: ["#lightShow.both.left.two", "#lightShow.both.right.two"], actions: [raise({ type: "LEFT" }), raise({ type: "chain", n: 2 })] },
      },
    },
    both: {
      tags: "lit",
      type: "parallel",
      entry: { type: "say", params: "on" },
      exit: { type: "say", params: "off" },
      onDone: { target: "over", actions: { type: "say", params: "both over" } },
      states: {
        left: {
          initial: "one",
          onDone: { actions: { type: "say", params: ({ event }) => `left ${String(event.output)}` } },
          states: { one: { on: { LEFT: "two" } }, two: { on: { LEFT: "three" } }, three: { type: "final", output: "left over" } },
        },
        right: {
          initial: "one",
          states: { one: { on: { RIGHT: "two" } }, two: { on: { RIGHT: "three" }, after: { 5009: "three" } }, three: { type: "final", output: "right over" } },
        },
      },
    },
    over: { on: { AGAIN: "dark" } },
  },
});

const calculator = setup({
  types: {} as {
    context: { left: number; right: string; operator: string | null };
    events: { type: "DIGIT"; digit: string } | { type: "OPERATOR"; operator: string } | { type: "EQUALS" } | { type: "CLEAR" } | { type: "POINT" };
  },
  actions: {
    reset: assign({ left: 0, right: "", operator: null }),
    append: assign({ right: ({ context }, text: string) => (context.right + text).slice(0, 6) }),
  },
  guards: { isZero: ({ context }) => Number(context.right) === 0, divides: ({ context }) => context.operator === "/" },
}).createMachine({
  id: "calculator",
  version: "1",
  context: { left: 0, right: "", operator: null },
  initial: "on",
  states: {
    on: {
      initial: "empty",
      on: { CLEAR: { target: ".empty", actions: "reset" } },
      states: {
        empty: { on: { DIGIT: { target: "number.whole", actions: { type: "append", params: ({ event }) => event.digit } } } },
        number: {
          initial: "whole",
          states: { whole: { on: { POINT: { target: "fraction", actions: { type: "append", params: "." } } } }, fraction: {} },
          on: {
            DIGIT: { actions: { type: "append", params: ({ event }) => event.digit } },
            OPERATOR: { target: "operator", actions: assign(({ context, event }) => ({ left: Number(context.right), right: "", operator: event.operator })) },
            EQUALS: [
              { guard: and(["divides", "isZero"]), target: "error" },
              {
                guard: ({ context }) => context.operator !== null,
                target: "result",
                actions: assign(({ context }) => ({
                  right: String(compute(context.left, Number(context.right), context.operator)).slice(0, 6),
                  operator: null,
                })),
              },
            ],
          },
        },
        operator: { on: { DIGIT: { target: "number", actions: { type: "append", params: ({ event }) => event.digit } } } },
        result: {
          on: {
            OPERATOR: { target: "operator", actions: assign(({ context, event }) => ({ left: Number(context.right), right: "", operator: event.operator })) },
          },
        },
        error: { entry: "reset", after: { 2011: "empty" }, on: { "*": "empty" } },
      },
    },
  },
});

function compute(left: number, right: number, operator: string | null): number {
  if (operator === "+") return left + right;
  return operator === "/" ? left / right : left * right;
}

export const charts: readonly Subject[] = [
  {
    machine: wizard,
    events: {
      wizard: [
        { type: "NEXT" },
        { type: "NEXT" },
        { type: "BACK" },
        { type: "FILL", name: "Ann", city: "Rome" },
        { type: "FILL", name: "Bo", city: "" },
        { type: "HELP" },
        { type: "CLOSE" },
        { type: "CLOSE" },
        { type: "CANCEL" },
      ],
    },
  },
  {
    machine: player,
    events: {
      player: [
        { type: "PLAY" },
        { type: "PLAY" },
        { type: "PAUSE" },
        { type: "STOP" },
        { type: "MUTE" },
        { type: "UNMUTE" },
        { type: "LOUDER" },
        { type: "SKIP" },
        { type: "PARTY" },
      ],
    },
  },
  {
    machine: editor,
    events: {
      editor: [{ type: "BOLD" }, { type: "LIST" }, { type: "SUSPEND" }, { type: "RESUME" }, { type: "RESUME_SHALLOW" }, { type: "TYPE" }, { type: "VIEW" }],
    },
  },
  { machine: trafficLight, events: { trafficLight: [{ type: "BUTTON" }, { type: "BREAK" }, { type: "REPAIR" }, { type: "REPAIR" }, { type: "RESET" }] } },
  {
    machine: elevator,
    events: {
      elevator: [
        { type: "CALL", floor: 0 },
        { type: "CALL", floor: 2 },
        { type: "CALL", floor: -1 },
        { type: "BLOCK" },
        { type: "UNBLOCK" },
        { type: "ALARM" },
      ],
    },
  },
  {
    machine: vendingMachine,
    events: {
      vendingMachine: [
        { type: "COIN", value: 1 },
        { type: "COIN", value: 2 },
        { type: "CHOOSE", item: "tea", price: 3 },
        { type: "CHOOSE", item: "nuts", price: 1 },
        { type: "REFUND" },
      ],
    },
  },
  { machine: countdown, input: { seconds: 5 }, events: { countdown: [{ type: "START" }, { type: "PAUSE" }, { type: "RESUME" }, { type: "ADD" }] } },
  {
    machine: signUpForm,
    events: {
      signUpForm: [
        { type: "MAIL", text: "a@b" },
        { type: "MAIL", text: "a" },
        { type: "WORD", text: "secret" },
        { type: "WORD", text: "no" },
        { type: "SUBMIT" },
        { type: "SUBMIT" },
      ],
    },
  },
  {
    machine: cart,
    events: {
      cart: [
        { type: "ADD", name: "pen" },
        { type: "ADD", name: "ink" },
        { type: "REMOVE", name: "pen" },
        { type: "REMOVE", name: "ink" },
        { type: "COUPON" },
        { type: "CHECKOUT" },
      ],
    },
  },
  {
    machine: auction,
    events: {
      auction: [{ type: "BID", by: "ann", amount: 5 }, { type: "BID", by: "bo", amount: 9 }, { type: "BID", by: "ann", amount: 12 }, { type: "WITHDRAW" }],
    },
  },
  {
    machine: thermostat,
    events: {
      thermostat: [
        { type: "MEASURE", degrees: 15 },
        { type: "MEASURE", degrees: 23 },
        { type: "MEASURE", degrees: 20 },
        { type: "SET", target: 25 },
        { type: "SET", target: 16 },
        { type: "MODE" },
      ],
    },
  },
  {
    machine: doorLock,
    events: {
      doorLock: [{ type: "UNLOCK" }, { type: "OPEN" }, { type: "SHUT" }, { type: "LOCK" }, { type: "alarm.fire" }, { type: "alarm.theft" }, { type: "odd" }],
    },
  },
  {
    machine: lightShow,
    events: { lightShow: [{ type: "GO" }, { type: "LEFT" }, { type: "RIGHT" }, { type: "JUMP" }, { type: "chain", n: 3 }, { type: "AGAIN" }] },
  },
  {
    machine: calculator,
    events: {
      calculator: [
        { type: "DIGIT", digit: "7" },
        { type: "DIGIT", digit: "0" },
        { type: "OPERATOR", operator: "+" },
        { type: "OPERATOR", operator: "/" },
        { type: "EQUALS" },
        { type: "EQUALS" },
        { type: "CLEAR" },
        { type: "POINT" },
      ],
    },
  },
];
