import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPawlError, PawlError } from "../../src/errors.ts";
import { Assembler, linesOf, parseEnvelope, type Envelope } from "../../src/host/protocol/envelope.ts";
import { greet } from "../../src/host/protocol/hello.ts";
import { maxLineBytes, maxRequestChars, partChars } from "../../src/host/protocol/limits.ts";
import { LineDecoder } from "../../src/host/protocol/lines.ts";
import { errorOfWire, parseHostMessage, parseRequest, parseValue, wireError } from "../../src/host/protocol/messages.ts";

const refusal = (work: () => unknown): PawlError => {
  try {
    work();
  } catch (error) {
    if (isPawlError(error)) return error;
    throw error;
  }
  throw new Error("it was not refused");
};

const message = (body: Record<string, unknown> = {}): Envelope => ({ v: 1, id: "x:1", kind: "run", body });

describe("lines", () => {
  test("HOST-40 lines come back whole however their bytes are cut, characters of several bytes included", () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " ").toWellFormed());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 50 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const decoder = new LineDecoder();
        const out: string[] = [];
        for (let from = 0, n = 0; from < bytes.length; n += 1) {
          const size = cuts[n % cuts.length] ?? 1;
          out.push(...decoder.push(bytes.subarray(from, from + size)));
          from += size;
        }
        expect(out).toEqual(lines);
        expect(decoder.waiting).toBe(0);
      }),
    );
  });

  test("HOST-40 a line of exactly the limit is taken, one more byte is refused before its end comes, and nothing of it is held", () => {
    const whole = new LineDecoder(10);
    expect(whole.push(Buffer.from("0123456789\n"))).toEqual(["0123456789"]);
    const decoder = new LineDecoder(10);
    expect(decoder.push(Buffer.from("01234"))).toEqual([]);
    expect(refusal(() => decoder.push(Buffer.from("567890"))).code).toBe("protocolBroken");
    expect(decoder.waiting).toBe(0);
    expect(refusal(() => decoder.push(Buffer.from("\n{}\n"))).code).toBe("protocolBroken");
  });

  test("HOST-40 bytes that are no UTF-8 are refused", () => {
    expect(refusal(() => new LineDecoder().push(Buffer.from([0x22, 0xc3, 0x28, 0x22, 10]))).message).toContain("no UTF-8");
    expect(refusal(() => new LineDecoder().push(Buffer.from([0xe2, 0x82, 10]))).message).toContain("no UTF-8");
  });
});

describe("messages", () => {
  test.each([
    ["{", "", "no JSON"],
    ["[]", "", "form"],
    ['{"v":1,"id":"a","kind":"run"}', "body", '"body"'],
    ['{"v":"1","id":"a","kind":"run","body":{}}', "v", '"v"'],
    ['{"v":1,"id":"","kind":"run","body":{}}', "id", '"id"'],
    ['{"v":1,"id":"a","kind":"run","body":{},"secret":"s3cret"}', "secret", "unknown key"],
  ])("HOST-41 %s is refused with its path and without its content", (line, path, words) => {
    const error = refusal(() => parseEnvelope(line));
    expect(error).toMatchObject({ code: "protocolBroken", path: path === "" ? error.path : path });
    expect(error.message).toContain(words);
    expect(error.message).not.toContain("s3cret");
  });

  test("HOST-42 a message of any size comes back whole, each of its lines within the limit, other messages between them", () => {
    const large = message({ text: `${'\u0001é"\\💾'.repeat(partChars)}` });
    const lines = linesOf(large, maxRequestChars);
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThan(maxLineBytes);
    const assembler = new Assembler(maxRequestChars);
    const small = JSON.stringify(message({ id: "between" }));
    const came = lines.flatMap((line) => [assembler.take(line), assembler.take(small)]).filter((one) => one !== null);
    expect(came.filter(({ body }) => body["id"] === "between")).toHaveLength(lines.length);
    expect(came.find(({ body }) => body["id"] !== "between")?.body["text"]).toBe(large.body["text"]);
    expect(linesOf(message(), maxRequestChars)).toHaveLength(1);
  });

  test("HOST-42 parts out of order, too much in all, and more than there is room for are refused, and room comes back", () => {
    const lines = linesOf(message({ text: "x".repeat(3 * partChars) }), maxRequestChars);
    const [first = "", second = "", third = ""] = lines;
    expect(refusal(() => new Assembler(maxRequestChars).take(second)).path).toBe("body.index");
    const skipping = new Assembler(maxRequestChars);
    skipping.take(first);
    expect(refusal(() => skipping.take(third)).path).toBe("body.index");
    const bounded = new Assembler(partChars);
    bounded.take(first);
    expect(refusal(() => bounded.take(second)).message).toContain("more than");
    const room = { left: 2 * partChars };
    const one = new Assembler(maxRequestChars, room);
    one.take(first);
    one.take(second);
    expect(refusal(() => new Assembler(maxRequestChars, room).take(first)).message).toContain("room");
    one.drop();
    expect(room.left).toBe(2 * partChars);
    expect(() => linesOf(message({ text: "x".repeat(3 * partChars) }), 2 * partChars)).toThrow(RangeError);
  });

  test.each([
    ["nosuch", {}, "kind"],
    ["run", {}, "body.id"],
    ["run", { id: "r", more: 1 }, "body.more"],
    ["runs", { filter: { state: ["odd"] }, page: {} }, "body.filter.state.0"],
    ["runs", { filter: {}, page: { limit: 501 } }, "body.page.limit"],
    ["start", { id: "r_1", workflow: "w", input: {}, cwd: "/" }, "body.id"],
    ["cancel", { id: "r", by: "nobody" }, "body.by"],
    ["answer", { decision: "d", choice: "go", idempotencyKey: "k", source: { kind: "human", channel: "c", actor: "a", admin: true } }, "body.source.admin"],
  ])("HOST-43 the request %s %j is refused with its path", (kind, body, path) => {
    const error = refusal(() => parseRequest(kind, body));
    expect(error).toMatchObject({ code: "invalidInput", path });
    expect(error.message).toContain("Nothing was done");
  });

  test("HOST-43 an answer that does not fit its request, and a message of an unknown kind, are refused by the client", () => {
    expect(refusal(() => parseValue("start", { id: "r", duplicate: "no" })).path).toBe("duplicate");
    expect(refusal(() => parseValue("status", {})).code).toBe("protocolBroken");
    expect(refusal(() => parseHostMessage("shout", {})).path).toBe("kind");
    expect(refusal(() => parseHostMessage("event", { event: { kind: "run", run: "r", state: "odd", at: 1 } })).path).toBe("body.event.state");
    expect(refusal(() => parseHostMessage("lagged", { more: 1 })).path).toBe("body.more");
  });

  test("HOST-43 an error keeps code, message, subject and path on its way", () => {
    const error = new PawlError("invalidInput", "wrong", { subject: "r_1", path: "a.b" });
    expect(errorOfWire(wireError(error))).toMatchObject({ code: "invalidInput", message: "wrong", subject: "r_1", path: "a.b", kind: "usage" });
    expect(errorOfWire(wireError(new TypeError("odd")))).toMatchObject({ code: "internal", message: "odd" });
    expect(errorOfWire({ code: "codeOfALaterPawl", message: "new" }).code).toBe("internal");
  });
});

describe("hello", () => {
  const host = { pid: 4711, version: "2.0.0" };
  const hello = (min: number, max: number, more: object = {}): Envelope => ({
    v: max,
    id: "hello",
    kind: "hello",
    body: { versions: { min, max }, client: { id: "client-1", name: "test", version: "1.0.0" }, ...more },
  });

  test("HOST-44 the newest version that both speak is agreed on", () => {
    expect(greet(hello(1, 1), host)).toMatchObject({ version: 1, client: { id: "client-1" } });
    expect(greet(hello(1, 9), host, { min: 1, max: 3 }).version).toBe(3);
    expect(greet(hello(1, 2), host, { min: 1, max: 3 }).version).toBe(2);
  });

  test("HOST-44 an older and a newer client are told which side is older, and what to do", () => {
    const older = refusal(() => greet(hello(1, 1), host, { min: 2, max: 3 }));
    expect(older.code).toBe("protocolMismatch");
    expect(older.message).toContain("process 4711, Pawl 2.0.0");
    expect(older.message).toContain("This client is older");
    expect(older.message).toContain("pawl host stop");
    // Whatever a later hello holds besides, it is told that it is newer.
    const newer = refusal(() => greet({ ...hello(7, 8), body: { versions: { min: 7, max: 8 }, later: true } }, host));
    expect(newer.message).toContain("This client is newer");
    expect(newer.message).toContain("kill 4711");
  });

  test("HOST-44 anything else before a hello, and a wrong hello, are refused", () => {
    expect(refusal(() => greet(message(), host)).path).toBe("kind");
    expect(refusal(() => greet(hello(1, 1, { admin: true }), host)).path).toBe("body.admin");
    expect(refusal(() => greet({ ...hello(1, 1), body: {} }, host)).path).toBe("body.versions");
  });
});
