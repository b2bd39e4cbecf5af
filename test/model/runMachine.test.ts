import { describe, expect, test } from "vitest";
import { placesOf, takeEdges } from "./runChart.ts";

const places = placesOf(null);

describe("the chart of a run without a session, on the real runtime, its database opened anew before every step", () => {
  test("RUN-1 RUN-2 the model has every state that such a run can be in", () => {
    expect(new Set(places.map(({ name }) => name.split(",")[0])).size).toBe(10);
  });

  test.each(places.map((place) => [place.name, place] as const))("RUN-2 every event at %s", { timeout: 60_000 }, async (_name, place) => {
    expect(await takeEdges(null, place)).toBeGreaterThan(5);
  });
});
