/** What the schema says of the text in the editor. */

import { Mark } from '../../components/marks.tsx';
import { Problem } from '../../components/problem.tsx';
import type { Verdict } from './use-verdict.ts';

interface VerdictProps {
  /** Null while nothing has been checked. */
  verdict: Verdict | null;
  hasSchema: boolean;
  schemaVersion: string | undefined;
}

export function VerdictPart({ verdict, hasSchema, schemaVersion }: VerdictProps) {
  return (
    <section class="verdict-part" aria-label="Validation">
      {verdict === null ? (
        <p class="hint">
          {hasSchema
            ? `The text is checked while you type, by the schema of version ${schemaVersion ?? 'of the configuration'}.`
            : 'The text is checked while you type. There is no schema, so every value is accepted.'}
        </p>
      ) : (
        <Found {...{ verdict, hasSchema, schemaVersion }} />
      )}
    </section>
  );
}

function Found({ verdict, hasSchema, schemaVersion }: VerdictProps & { verdict: Verdict }) {
  const { errors, problem } = verdict;
  if (problem !== null) return <Problem problem={problem} />;
  if (errors.length === 0)
    return (
      <p role="status" class="verdict-line">
        <Mark word="Valid" tone="good" />
        {hasSchema && schemaVersion !== undefined && (
          <span class="muted">by the schema of version {schemaVersion}</span>
        )}
      </p>
    );
  return (
    <div class="alert" role="alert" data-code="validation_failed">
      <p>
        {errors.length === 1 ? 'There is 1 problem.' : `There are ${errors.length} problems.`} F8 in the text
        goes to the next one.
      </p>
      <ul class="faults">
        {errors.map(({ path, message, code }) => (
          <li key={`${path} ${code} ${message}`} data-code={code}>
            {path !== '' && <code>{path}</code>} {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
