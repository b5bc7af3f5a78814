/** The tasks of the threads that work on the whole fleet. */

import { Fleet, type FleetPlace } from './fleet.ts';
import { proofTasks } from './proof-tasks.ts';

export type FleetTasks = ReturnType<typeof fleetTasks>;

export function fleetTasks(place: FleetPlace) {
  let opened: Fleet | null = null;
  /** The database is opened by the first task, so that an error of it reaches a caller. */
  const fleet = () => {
    opened ??= new Fleet(place);
    return opened;
  };
  return {
    /** The number of nodes. It is how a test sees that the thread works. */
    countNodes: (_nothing: null) => fleet().database.readFleet().size,
    ...proofTasks(fleet),
  };
}
