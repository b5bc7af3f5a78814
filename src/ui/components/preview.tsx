/** What some changes would do to the fleet: a button that asks for it, and the answer, which can be left and found again. */

import { useId, useState } from 'preact/hooks';
import { send } from '../client.ts';
import { usePlace } from '../router.ts';
import { can } from '../session.ts';
import type { Preview, PreviewChange } from '../types.ts';
import { useDeed } from './dialog.tsx';
import type { DiffMode } from './diff-table.tsx';
import { PreviewResult } from './preview/result.tsx';
import { Problem } from './problem.tsx';

interface PreviewImpactProps {
  changes: readonly PreviewChange[];
  /** Narrows it to these nodes, at most 20. Each is shown with its merged parameters. */
  nodeIds?: readonly string[] | NamedNodes | undefined;
  /** The button's text. */
  deed?: string;
  /** It cannot be asked for yet. */
  isDisabled?: boolean;
  /** Why it cannot be asked for. It is shown beside the button. */
  reason?: string | null;
  /** The member of the URL that holds the preview's id; null: it is kept as long as the component is shown. */
  paramName?: string | null;
  /** The level of the headings of groups. */
  level?: 3 | 4;
  mode?: DiffMode;
}

/** Nodes that somebody has named. Their ids are looked for when the preview is asked for. */
interface NamedNodes {
  names: string;
  /** @throws ApiProblem where there is no such node */
  find: () => Promise<readonly string[]>;
}

const OF_CONTENT: ReadonlySet<string> = new Set(['content', 'contentType']);

/** What previews were asked for on this page, by id. The server does not tell the content that was proposed. */
const asked = new Map<string, string>();

export function PreviewImpact(props: PreviewImpactProps) {
  const { changes, nodeIds, deed = 'Preview impact', paramName = 'preview', level = 3, mode } = props;
  const [id, keep] = useKeptId(paramName);
  const proposed = JSON.stringify({ changes, nodeIds });
  const { isBusy, problem, start } = useDeed(async () => {
    const ids = nodeIds !== undefined && 'names' in nodeIds ? await nodeIds.find() : nodeIds;
    const { data } = await send<Preview>('POST', '/previews', { changes, nodeIds: ids });
    asked.set(data.id, proposed);
    keep(data.id);
    return null;
  }, false);
  const reason = can('nodes.read') ? (props.reason ?? null) : 'You may not see nodes (nodes.read).';
  const reasonId = useId();
  return (
    <div class="preview">
      <span class="deed">
        <button
          type="button"
          disabled={isBusy || props.isDisabled === true || reason !== null}
          aria-busy={isBusy}
          aria-describedby={reason === null ? undefined : reasonId}
          onClick={() => void start()}
        >
          {deed}
        </button>
        {reason !== null && (
          <span id={reasonId} class="hint">
            {reason}
          </span>
        )}
      </span>
      {problem !== null && <Problem problem={problem} />}
      {id !== null && (
        <PreviewResult
          key={id}
          id={id}
          deed={deed}
          isOther={(preview) => (asked.get(id) ?? proposed) !== proposed || !isAbout(preview, changes)}
          paramName={paramName ?? 'preview'}
          isNarrowed={nodeIds !== undefined}
          level={level}
          mode={mode ?? 'unified'}
        />
      )}
    </div>
  );
}

function useKeptId(paramName: string | null): [string | null, (id: string) => void] {
  const place = usePlace();
  const [kept, setKept] = useState<string | null>(null);
  if (paramName === null) return [kept, setKept];
  return [
    place.query.get(paramName) || null,
    (id) => place.setQuery({ [paramName]: id, [`${paramName}-groups`]: null }),
  ];
}

/** Whether the preview names these changes. It tells no content, so that is not compared. */
function isAbout({ changes: shown }: Preview, changes: readonly PreviewChange[]): boolean {
  const text = (value: unknown) => JSON.stringify(value ?? null);
  return (
    shown.length === changes.length &&
    shown.every((change, index) =>
      Object.entries(change).every(
        ([name, value]) =>
          OF_CONTENT.has(name) || text(value) === text(Reflect.get(changes[index] ?? {}, name)),
      ),
    )
  );
}
