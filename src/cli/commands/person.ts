/** Some things only a person may do; how the command line knows one. */
import { PawlError } from "../../errors.ts";
import type { Environment } from "../environment.ts";

/** @throws humanOnly, saying why no person is seen here and how a person does it. */
export function requirePerson({ notHuman }: Environment, what: string): void {
  if (notHuman === null) return;
  throw new PawlError("humanOnly", `Only a person can ${what}, and here ${notHuman}. Type the command yourself, in a terminal of your own.`);
}
