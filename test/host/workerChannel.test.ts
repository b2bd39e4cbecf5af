/** The channel's own parts: frames, texts that are sent once, errors that survive. */
import { serialize } from "node:v8";
import { createServer, connect, Socket, type AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NotApplied, RetryableError, TerminalError } from "../../machines/define.ts";
import { isPawlError, PawlError } from "../../src/errors.ts";
import { EffectFailure } from "../../src/runtime/executor.ts";
import { describe as described } from "../../src/runtime/attempt.ts";
import { howItEnded } from "../../src/host/workers/endings.ts";
import { frameLimit, Frames, FrameTooLarge } from "../../src/host/workers/frames.ts";
import { ReceivedTexts, SentTexts } from "../../src/host/workers/texts.ts";
import { fromWire, toWire, WireError } from "../../src/host/workers/wireError.ts";

const reader = () => {
  const messages: unknown[] = [];
  const broken: unknown[] = [];
  const socket = new Socket();
  const frames = new Frames(socket, { message: (value) => messages.push(value), broken: (error) => broken.push(error) });
  return { messages, broken, frames, take: (bytes: Uint8Array) => socket.emit("data", Buffer.from(bytes)) };
};

const frameOf = (value: unknown): Buffer => {
  const body = serialize(value);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.byteLength);
  return Buffer.concat([head, body]);
};

describe("frames", () => {
  test("WORKER-14 messages arrive whole and in order, however their bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.array(fc.nat({ max: 40 }), { maxLength: 60 }), (values, cuts) => {
        const { messages, broken, take } = reader();
        let rest = Buffer.concat(values.map(frameOf));
        for (const cut of cuts) {
          take(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        take(rest);
        expect(messages).toEqual(values);
        expect(broken).toEqual([]);
      }),
    );
  });

  test("WORKER-14 a length beyond the limit and bytes that are no message break the channel, and nothing more is read", () => {
    const long = reader();
    const head = Buffer.alloc(4);
    head.writeUInt32BE(frameLimit + 1);
    long.take(head);
    expect(long.broken).toEqual([expect.any(FrameTooLarge)]);
    const garbage = reader();
    garbage.take(Buffer.from([0, 0, 0, 3, 1, 2, 3]));
    expect(garbage.broken).toHaveLength(1);
    expect([long.messages, garbage.messages]).toEqual([[], []]);
  });

  test("WORKER-14 what is written arrives over a real socket; what is too large is refused before anything is sent", async () => {
    const got: unknown[] = [];
    const server = createServer((socket) => void new Frames(socket, { message: (value) => got.push(value), broken: () => undefined })).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await vi.waitUntil(() => server.listening);
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await new Promise((resolve) => socket.once("connect", resolve));
    const frames = new Frames(socket, { message: () => undefined, broken: () => undefined });
    frames.send({ a: "ü".repeat(100_000) });
    expect(() => frames.send({ a: "x".repeat(frameLimit) })).toThrow(FrameTooLarge);
    frames.send({ b: new Uint8Array([1, 2]) });
    await vi.waitFor(() => expect(got).toHaveLength(2), { timeout: 5_000 });
    expect(got).toEqual([{ a: "ü".repeat(100_000) }, { b: new Uint8Array([1, 2]) }]);
  });
});

describe("texts", () => {
  test("WORKER-14 both sides keep the same texts, so that each is sent once while it is kept", () => {
    const text = fc.record({ key: fc.constantFrom("a", "b", "c", "d", null), size: fc.constantFrom(1, 10, 40, 90, 200) });
    fc.assert(
      fc.property(fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 20 }), (calls) => {
        const sent = new SentTexts(100);
        const received = new ReceivedTexts(100);
        for (const texts of calls) {
          // The same key always means the same text.
          const wanted = texts.map(({ key, size }) => ({ key, json: key === null ? "x".repeat(size) : key.repeat(key.charCodeAt(0) - 60) }));
          for (const one of wanted) {
            const message = sent.messageFor(one);
            received.add(message.key, message.json);
          }
          expect(received.take()).toEqual(wanted.map(({ json }) => json));
        }
      }),
    );
    const again = new SentTexts(100);
    const one = { key: "v", json: "[1]" };
    expect([again.messageFor(one).json, again.messageFor(one).json]).toEqual(["[1]", null]);
    expect(() => new ReceivedTexts(100).add("v", null)).toThrow("never sent");
  });
});

describe("errors", () => {
  const travelled = (error: unknown): Error => fromWire(WireError.parse(toWire(error)));

  test.each([
    new PawlError("invalidInput", "m", { path: "a.b", subject: "s" }),
    new PawlError("invalidValue", "m"),
    new EffectFailure("routing", "m"),
    new NotApplied("m"),
    new TerminalError("m", "noAccount"),
    new RetryableError("m", { retryAfterMs: 5 }),
    new Error("m"),
    new TypeError(""),
    "a text",
    undefined,
    Object.assign(new Error("m"), { code: 7, reason: {}, retryAfterMs: "soon" }),
  ])("WORKER-10 what the runtime reads of %o is the same after the trip", (error) => {
    const after = travelled(error);
    expect(described(after)).toEqual(described(error));
    if (!(error instanceof Error)) return;
    expect([after.name, isPawlError(after)]).toEqual([error.name, isPawlError(error)]);
    const read = (of: Error) =>
      ["path", "subject", "retryAfterMs"].map((name) => (typeof Reflect.get(of, name) === typeof Reflect.get(after, name) ? Reflect.get(of, name) : undefined));
    expect(read(after)).toEqual(read(error));
  });

  test("WORKER-10 an error whose fields throw is told all the same", () => {
    const odd = Object.defineProperty(new Error("m"), "reason", {
      get() {
        throw new Error("no");
      },
    });
    expect(described(travelled(odd))).toEqual({ reason: "effectFailed", message: "m" });
  });
});

test("WORKER-2 how a worker ended is told by what is known best", () => {
  const limit = { memoryMb: null };
  expect(howItEnded({ code: null, signal: "SIGABRT", outOfMemory: true }, limit)).toBe("it ran out of memory");
  expect(howItEnded({ code: null, signal: "SIGABRT", outOfMemory: true }, { memoryMb: 64 })).toBe("it ran out of memory (its limit is 64 MiB)");
  expect(howItEnded({ code: null, signal: "SIGKILL", blockedMs: 30_000 }, limit)).toMatch(/^it blocked its event loop for 30000 ms and was ended;/);
  expect(howItEnded({ code: 1, signal: null, lastWords: "it broke." }, limit)).toBe("it broke");
  expect(howItEnded({ code: null, signal: "SIGTERM" }, limit)).toBe("it was ended by SIGTERM");
  expect(howItEnded({ code: 3, signal: null }, limit)).toBe("it ended with exit code 3");
});
