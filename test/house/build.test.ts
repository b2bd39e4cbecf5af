import { expect, test } from "vitest";
import { loadedBuild } from "./xstateBuild.ts";

test("HOUSE-11 workers load XState's production build, the one that users run", () => {
  expect(loadedBuild()).toBe("production");
  expect(process.env["NODE_ENV"]).toBe("production");
});
