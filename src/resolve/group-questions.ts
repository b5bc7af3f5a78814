/** What is asked about a group of a preview, as tasks of the threads that know the fleet. */

import { compareTasks } from './compare-tasks.ts';
import { type CompareRunner, Comparer } from './comparer.ts';
import type { Fleet } from './fleet.ts';
import { GroupDetails, type KeptText } from './group-details.ts';
import { ParameterReader } from './parameters.ts';

/** Nobody else waits in such a thread. */
const AT_ONCE: CompareRunner = {
  run: async (_caller, task, input) => (compareTasks[task] as (given: typeof input) => never)(input),
};

/** @param fleet gives the fleet of the thread */
export function groupQuestions(fleet: () => Fleet) {
  let made: GroupDetails | null = null;
  const details = () => {
    made ??= detailsIn(fleet());
    return made;
  };
  return {
    groupDetails: (asked: { caller: string; kept: KeptText; withMerged: boolean }) =>
      details().details(asked.caller, asked.kept, asked.withMerged),

    groupFile: (asked: { caller: string; kept: KeptText; file: { path: string; context: number } }) =>
      details().fileDiff(asked.caller, asked.kept, asked.file.path, asked.file.context),
  };
}

function detailsIn({ store, documents }: Fleet): GroupDetails {
  const parameters = new ParameterReader(store, documents, () => undefined);
  return new GroupDetails({ store, documents, parameters, comparer: new Comparer(AT_ONCE) });
}
