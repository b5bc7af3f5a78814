/** The module that each thread begins with. */

import { serveTasks } from '../lib/threads.ts';
import { threadTasks } from './open.ts';

serveTasks(threadTasks());
