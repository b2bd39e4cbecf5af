/** Stands for the outside world: a bank and a post office, each a file that outlives the process. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Observation } from "pawl";

export const folder = resolve(process.argv[2] ?? ".pawl-order");

const write = (file: string, line: string): void => {
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, file), `${line}\n`);
};
const lines = (file: string): readonly string[] => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").split("\n") : []);

export const bank = {
  /** Charges, and takes a moment to answer: kill the example in it. */
  async charge(key: string, amount: number): Promise<string> {
    write("bank.txt", `${key} ${amount}`);
    await sleep(700);
    return `receipt of ${key}`;
  },
  /** What the bank knows of a charge. */
  async find(key: string): Promise<Observation<string>> {
    return lines("bank.txt").some((line) => line.startsWith(`${key} `)) ? { happened: true, output: `receipt of ${key}` } : { happened: false };
  },
};

export const postOffice = {
  async send(to: string, text: string): Promise<void> {
    write("mail.txt", `${to}: ${text}`);
  },
};
