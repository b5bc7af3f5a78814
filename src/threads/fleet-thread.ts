/** The module that each thread for work on the whole fleet begins with. */

import { workerData } from 'node:worker_threads';
import { serveTasks } from '../lib/threads.ts';
import type { FleetPlace } from '../resolve/fleet.ts';
import { fleetTasks } from '../resolve/fleet-tasks.ts';
import { lowerPriority } from './low-priority.ts';

lowerPriority();
serveTasks(fleetTasks(workerData as FleetPlace));
