/** What is wrong with a text or is worth a word, each with its place. */

import type { FieldProblem } from '../client.ts';
import { Mark } from './marks.tsx';

interface Props {
  faults: readonly FieldProblem[];
}

/** What has no severity was refused. */
export function isError({ severity }: Pick<FieldProblem, 'severity'>): boolean {
  return severity !== 'Warning';
}

/** The Errors, and then the Warnings apart from them. */
export function Faults({ faults }: Props) {
  const errors = faults.filter(isError);
  const warnings = faults.filter((fault) => !isError(fault));
  return (
    <>
      {errors.length > 0 && <List label="Errors" faults={errors} />}
      {warnings.length > 0 && <List label="Warnings" faults={warnings} />}
    </>
  );
}

function List({ label, faults }: Props & { label: string }) {
  return (
    <ul class="faults" aria-label={label}>
      {faults.map((fault) => {
        const { severity, message, code } = fault;
        const place = placeOf(fault);
        return (
          <li key={`${place} ${code} ${message}`} data-code={code}>
            {severity !== undefined && <Mark word={severity} />} {place !== '' && <code>{place}</code>}{' '}
            {message}
          </li>
        );
      })}
    </ul>
  );
}

/** As compilers print it, such as `main.dsc.yaml:12:7`; of a member of a body its JSON Pointer. */
function placeOf({ file, line, column, path }: FieldProblem): string {
  if (file === undefined) return path ?? '';
  return typeof line === 'number' ? `${file}:${line}:${column ?? 1}` : file;
}
