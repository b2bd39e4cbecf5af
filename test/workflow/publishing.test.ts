import { expect, test } from "vitest";
import { publishing, publishNowhere } from "../../src/workflow/publishing.ts";

test.each([null, undefined, "half", 7, [1]])("UPD-5 a progress that is no object is refused in words that an author understands: %o", (given) => {
  const { progress } = publishing(publishNowhere);
  expect(() => progress(given as never)).toThrow(
    expect.objectContaining({ code: "invalidInput", message: expect.stringContaining("A progress is an object") }),
  );
});
