/** The module that each thread for work on the whole fleet begins with. */

import { workerData } from 'node:worker_threads';
import { serveTasks } from '../lib/threads.ts';
import type { FleetPlace } from '../resolve/fleet.ts';
import { fleetTasks } from '../resolve/fleet-tasks.ts';
import { HeldKeys, type ToldKeys } from '../resolve/held-keys.ts';
import { lowerPriority } from './low-priority.ts';

lowerPriority();
const keys = new HeldKeys();
serveTasks(fleetTasks(workerData as FleetPlace, keys), (told: ToldKeys) => keys.hear(told));
