/** A dry run lists what a cleanup would delete, and the cleanup then deletes it. Both follow the rules as they stand in the form. */

import { useId, useState } from 'preact/hooks';
import { ApiProblem, send } from '../../client.ts';
import { Choose } from '../../components/choose.tsx';
import { DeedDialog, useDeed } from '../../components/dialog.tsx';
import { Num } from '../../components/num.tsx';
import { Problem } from '../../components/problem.tsx';
import { Progress } from '../../components/progress.tsx';
import type { RetentionResult } from '../../types.ts';
import { CleanupResult } from './cleanup-result.tsx';
import type { Overrides } from './rules.tsx';

const TYPES = [
  { type: 'Configuration', path: 'configurations', rules: 'versions', label: 'Versions of configurations' },
  {
    type: 'Composite',
    path: 'composite-configurations',
    rules: 'versions',
    label: 'Versions of composite configurations',
  },
  { type: 'Parameter', path: 'parameters', rules: 'versions', label: 'Parameter files, drafts too' },
  { type: 'Report', path: 'reports', rules: 'reports', label: 'Reports' },
  { type: 'StatusEvent', path: 'status-events', rules: 'statusEvents', label: 'Status events' },
] as const;

type Kind = (typeof TYPES)[number];

const ITEMS = TYPES.map(({ type, label }) => ({ value: type, label }));

/** What a dry run was asked for. The cleanup is asked for the very same. */
interface Plan {
  kinds: readonly Kind[];
  overrides: Overrides | null;
}

interface Outcome extends Plan {
  isDryRun: boolean;
  results: readonly RetentionResult[];
}

export function Cleanup({ overrides }: { overrides: Overrides | null }) {
  const id = useId();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(TYPES.map(({ type }) => type)));
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isAsking, setAsking] = useState(false);
  const plan: Plan = { kinds: TYPES.filter(({ type }) => chosen.has(type)), overrides };
  const dry = useDeed(async () => {
    setOutcome(null);
    await cleanUp(plan, true, setOutcome);
    return null;
  });
  const count = outcome?.results.reduce((sum, { deletedCount }) => sum + deletedCount, 0) ?? 0;
  const isCurrent = outcome?.isDryRun === true && isSame(outcome, plan) && !dry.isBusy;
  return (
    <section class="card">
      <h2>Clean up</h2>
      <Choose
        legend="What to clean up"
        hint="The rules above hold as they stand there, saved or not. The own retention of a configuration goes before them."
        items={ITEMS}
        chosen={chosen}
        onChange={setChosen}
      />
      <div class="bar">
        <button
          type="button"
          disabled={dry.isBusy || plan.kinds.length === 0}
          aria-busy={dry.isBusy}
          onClick={() => void dry.start()}
        >
          Dry run
        </button>
        <button
          type="button"
          class="danger"
          disabled={!isCurrent || count === 0}
          aria-describedby={id}
          onClick={() => setAsking(true)}
        >
          Clean up
        </button>
        <span id={id} class="hint" role="status">
          {hintOf({ outcome, isCurrent, count, isBusy: dry.isBusy })}
        </span>
      </div>
      {dry.isBusy && (
        <Progress label="Dry run" value={outcome?.results.length ?? 0} max={plan.kinds.length} />
      )}
      {dry.problem !== null && <Problem problem={dry.problem} />}
      {outcome !== null && <CleanupResult results={outcome.results} isDryRun={outcome.isDryRun} />}
      {isAsking && outcome !== null && (
        <CleanUpDialog outcome={outcome} count={count} onClose={() => setAsking(false)} onDone={setOutcome} />
      )}
    </section>
  );
}

interface State {
  outcome: Outcome | null;
  isCurrent: boolean;
  count: number;
  isBusy: boolean;
}

function hintOf({ outcome, isCurrent, count, isBusy }: State): string {
  if (isBusy) return '';
  if (outcome === null)
    return 'Begin with a dry run. It lists what a cleanup would delete, and deletes nothing.';
  if (!outcome.isDryRun) return 'This was cleaned up.';
  if (!isCurrent) return 'The rules or the choice have changed since this dry run. Make another one.';
  return count === 0 ? 'Nothing would be deleted.' : 'Nothing was deleted yet.';
}

function isSame(one: Plan, other: Plan): boolean {
  const textOf = ({ kinds, overrides }: Plan) => JSON.stringify([kinds, overrides]);
  return textOf(one) === textOf(other);
}

/**
 * Runs one cleanup after the other, because each holds the same locks.
 * @param onResult gets what there is after each
 * @throws ApiProblem where one is refused; those before it are done
 */
async function cleanUp(
  plan: Plan,
  isDryRun: boolean,
  onResult: (outcome: Outcome) => void,
): Promise<Outcome> {
  const results: RetentionResult[] = [];
  for (const { path, rules, label } of plan.kinds) {
    const body = { ...plan.overrides?.[rules], dryRun: isDryRun };
    try {
      results.push((await send<RetentionResult>('POST', `/retention/${path}/cleanup`, body)).data);
    } catch (error) {
      throw error instanceof ApiProblem && plan.kinds.length > 1 ? named(error, label) : error;
    }
    onResult({ ...plan, isDryRun, results: [...results] });
  }
  return { ...plan, isDryRun, results };
}

/** Says which of several cleanups was refused. */
function named({ status, body, detail, retryAfter }: ApiProblem, label: string): ApiProblem {
  return new ApiProblem(status, { ...body, detail: `${label}: ${detail}` }, retryAfter);
}

interface CleanUpDialogProps {
  outcome: Outcome;
  count: number;
  onClose: () => void;
  onDone: (outcome: Outcome) => void;
}

function CleanUpDialog({ outcome, count, onClose, onDone }: CleanUpDialogProps) {
  const planned = outcome.results.filter(({ deletedCount }) => deletedCount > 0);
  const kinds = outcome.kinds.filter(({ type }) => planned.some(({ versionType }) => versionType === type));
  const [done, setDone] = useState(0);
  const run = async () => {
    const { results } = await cleanUp({ ...outcome, kinds }, false, (each) => setDone(each.results.length));
    onDone({ ...outcome, isDryRun: false, results });
    return `${results.reduce((sum, { deletedCount }) => sum + deletedCount, 0)} were deleted.`;
  };
  return (
    <DeedDialog
      heading={count === 1 ? 'Clean up 1 entry' : `Clean up ${count} entries`}
      deed="Clean up"
      underWay={<Progress label="Types" value={done} max={kinds.length} />}
      isDanger
      onClose={onClose}
      run={run}
    >
      <p>According to the dry run these go for good:</p>
      <ul>
        {planned.map(({ versionType, deletedCount, keptCount }) => (
          <li key={versionType}>
            {TYPES.find(({ type }) => type === versionType)?.label}: <Num value={deletedCount} />, and{' '}
            <Num value={keptCount} /> stay
          </li>
        ))}
      </ul>
      <p class="hint">What has become old since the dry run goes too. It cannot be taken back.</p>
    </DeedDialog>
  );
}
