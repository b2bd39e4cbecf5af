import { test } from "vitest";
import { manySeedsHold } from "./many.ts";

test("SIM-1, SIM-2, SIM-3, SIM-4, SIM-5, SIM-6, SIM-7, SIM-8, SIM-9, SIM-10, SIM-11, SIM-12, SIM-13 every rule holds over many seeds of workflows on a host", () =>
  manySeedsHold("hosts", 45));
