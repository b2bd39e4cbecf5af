/** Stored actors as typed snapshots. */
import { matchesState, type AnyStateMachine, type StateValue } from "xstate";
import type { ActorRecord } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { ActorSnapshot, Failure } from "./types.ts";

/** The machine that an actor was saved by; undefined when it is not registered. */
export type MachineFor = (record: ActorRecord) => AnyStateMachine | undefined;

/** `fault`: why a faulted actor stands still. */
export function snapshotOf<M extends AnyStateMachine>(
  { record, value, context, output, error }: ActorView,
  machineFor: MachineFor,
  fault: Failure | null,
): ActorSnapshot<M> {
  const { id, machineId, machineVersion, revision, status, parent, root, createdAt, updatedAt } = record;
  const snapshot = {
    id,
    machine: machineId,
    version: machineVersion,
    revision,
    status,
    value,
    context,
    output: status === "done" ? output : undefined,
    error: status === "faulted" ? fault : status === "error" ? error : undefined,
    parent,
    root,
    createdAt,
    updatedAt,
    matches: (wanted: StateValue) => matchesState(wanted, value as StateValue), // the stored state of a machine
    hasTag(tag: string) {
      const machine = machineFor(record);
      if (!machine)
        throw new PawlError(
          "unknownMachine",
          `Actor "${id}" was saved by machine "${machineId}" version ${machineVersion}, which is not registered: its tags are not known.`,
          { subject: id },
        );
      return machine.resolveState({ value: value as StateValue, context }).tags.has(tag); // as above
    },
  };
  return snapshot as unknown as ActorSnapshot<M>; // the row was written by this machine, which its callers have compared
}
