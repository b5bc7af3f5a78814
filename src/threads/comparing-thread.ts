/** The module that each thread for comparisons begins with. It loads little, because its first caller waits for that. */

import { serveTasks } from '../lib/threads.ts';
import { compareTasks } from '../resolve/compare-tasks.ts';
import { lowerPriority } from './low-priority.ts';

lowerPriority();
serveTasks(compareTasks);
