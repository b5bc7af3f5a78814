/** What a thread can be asked to do. */

import { reportTasks } from '../api/reports/report-tasks.ts';
import { documentTasks } from '../resolve/document-tasks.ts';

export type ThreadTasks = ReturnType<typeof threadTasks>;

export function threadTasks() {
  return { ...documentTasks(), ...reportTasks };
}
