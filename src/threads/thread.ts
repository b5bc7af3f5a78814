/** The module that each thread begins with. */

import { serveTasks } from '../lib/threads.ts';
import { HeldKeys, type ToldKeys } from '../resolve/held-keys.ts';
import { threadTasks } from './open.ts';

const keys = new HeldKeys();
serveTasks(threadTasks(keys), (told: ToldKeys) => keys.hear(told));
