import { expect, test } from "vitest";
import { loadedBuild } from "./xstateBuild.ts";

test("HOUSE-11 the development project loads XState's development build", () => {
  expect(loadedBuild()).toBe("development");
});
