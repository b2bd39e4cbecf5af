import { describe, expect, test } from "vitest";
import { placesOf, takeEdges } from "./runChart.ts";

const places = placesOf("first", "second");

describe("the chart of a run of a session that may move to another, its database opened anew before every step", () => {
  test("RUN-2 RUN-22 the model has every state that such a run can be in", () => {
    expect(new Set(places.map(({ name }) => name.split(",")[0])).size).toBe(12);
  });

  test.each(places.map((place) => [place.name, place] as const))("RUN-2 RUN-22 every event at %s", { timeout: 60_000 }, async (_name, place) => {
    expect(await takeEdges("first", place)).toBeGreaterThan(5);
  });
});
