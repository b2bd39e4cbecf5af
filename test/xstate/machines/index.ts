import { charts } from "./charts.ts";
import { families } from "./families.ts";
import { requests } from "./requests.ts";
import type { Subject } from "./subject.ts";

/** Every test machine, once. */
export const subjects: readonly Subject[] = [...charts, ...requests, ...families];
