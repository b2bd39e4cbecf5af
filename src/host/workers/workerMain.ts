/** First file of a worker process: what it loads is compiled once for all workers of this machine. */
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./worker.ts");
