/** A thread of the worker that outlives a blocked event loop: when the host is gone, however it went, the whole group of the worker goes at once. */
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { killOwnGroup } from "../processes.ts";

const { fd } = workerData as { readonly fd: number }; // worker.ts starts this thread with it

const socket = new Socket({ fd, readable: true, writable: true });
// Nothing is ever sent: the end of the stream is the message.
socket.on("error", () => undefined);
socket.on("close", () => killOwnGroup());
socket.resume();
