/** The module that each thread begins with. */

import { serveTasks } from '../lib/threads.ts';
import { threadTasks } from './tasks.ts';

serveTasks(threadTasks());
