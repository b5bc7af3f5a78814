/** What the server finds in the text of an editor. */

import type { ComponentChildren } from 'preact';
import type { FieldProblem } from '../client.ts';
import { Faults, isError } from './faults.tsx';
import { Problem } from './problem.tsx';
import type { Verdict } from './use-verdict.ts';

interface VerdictProps {
  /** Null while nothing has been checked. */
  verdict: Verdict | null;
  /** What is said until then. */
  hint: string;
  /** What is said where nothing is found. */
  valid: ComponentChildren;
  /** What saving or publishing the text would be refused with. */
  code: string;
}

export function VerdictPart({ verdict, hint, ...props }: VerdictProps) {
  return (
    <section class="verdict-part" aria-label="Validation">
      {verdict === null ? <p class="hint">{hint}</p> : <Found {...props} verdict={verdict} />}
    </section>
  );
}

function Found({ verdict, valid, code }: Omit<VerdictProps, 'hint'> & { verdict: Verdict }) {
  const { faults, problem } = verdict;
  if (problem !== null) return <Problem problem={problem} />;
  if (faults.length === 0)
    return (
      <p role="status" class="verdict-line">
        {valid}
      </p>
    );
  if (faults.some(isError))
    return (
      <div class="alert" role="alert" data-code={code}>
        <Counted faults={faults} />
      </div>
    );
  return (
    <div class="warning part" role="status">
      <Counted faults={faults} />
    </div>
  );
}

function Counted({ faults }: { faults: readonly FieldProblem[] }) {
  return (
    <>
      <p>{faults.length === 1 ? 'There is 1 problem.' : `There are ${faults.length} problems.`}</p>
      <Faults faults={faults} />
    </>
  );
}
