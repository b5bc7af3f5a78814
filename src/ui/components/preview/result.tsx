/** A preview as far as it has come: progress, figures, groups, or why there is none. */

import type { ComponentChildren } from 'preact';
import { ApiProblem } from '../../client.ts';
import { apiPath } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Preview } from '../../types.ts';
import { Faults } from '../faults.tsx';
import { Num } from '../num.tsx';
import { Skeleton } from '../page.tsx';
import { Problem } from '../problem.tsx';
import { Progress } from '../progress.tsx';
import { Time } from '../time.tsx';
import { Groups } from './groups.tsx';
import { count, type ResultProps } from './shared.ts';

/** In milliseconds: while it is made, and then until it expires. */
const PAUSES = { running: 1_000, done: 15_000 };

function pauseOf(data: unknown): number {
  return (data as Preview | null)?.state === 'Running' ? PAUSES.running : PAUSES.done;
}

interface PreviewProps extends ResultProps {
  /** It was made for other changes than those of this page. */
  isOther: (preview: Preview) => boolean;
}

export function PreviewResult({ isOther, ...props }: PreviewProps) {
  const preview = useResource<Preview>(apiPath('previews', props.id), { pause: pauseOf });
  const { data, problem } = preview;
  if (problem?.status === 404)
    return (
      <Problem problem={problem}>
        A preview is kept for an hour, for the one who made it. <q>{props.deed}</q> makes it anew.
      </Problem>
    );
  const isBusy = preview.state === 'loading' || data?.state === 'Running';
  return (
    <div class="preview-result" aria-busy={isBusy}>
      <p role="status" class="verdict">
        {data !== null && verdictOf(data)}
      </p>
      {problem !== null && <Problem problem={problem} onRetry={() => void preview.reload()} />}
      {data !== null && isOther(data) && (
        <p class="warning">
          This preview was made for other changes than those that are proposed now. Make it anew.
        </p>
      )}
      {data === null ? problem === null && <Skeleton lines={3} /> : <Content {...props} preview={data} />}
    </div>
  );
}

function verdictOf({ state, counts: { changed, unchanged, unresolvable } }: Preview): string {
  if (state === 'Running') return 'The preview is being made. This page can be left and found again.';
  if (state === 'Failed') return 'The preview failed.';
  const lost = unresolvable === 0 ? '' : ` ${count(unresolvable, 'node')} would get nothing any more.`;
  return `${count(changed, 'node')} would change, ${unchanged} would stay as ${unchanged === 1 ? 'it is' : 'they are'}.${lost}`;
}

function Content({ preview, ...props }: ResultProps & { preview: Preview }) {
  const { state, error, counts } = preview;
  if (state === 'Running')
    return (
      <Progress
        label="Nodes looked at"
        value={counts.changed + counts.unchanged + counts.unresolvable}
        max={counts.nodes}
      />
    );
  if (state === 'Failed')
    return <Problem problem={new ApiProblem(0, { code: 'preview_failed', detail: error ?? undefined })} />;
  return (
    <>
      {preview.warnings.map(({ code, message, path }) => (
        <p key={`${path} ${code}`} class="warning" data-code={code}>
          {message}
        </p>
      ))}
      <Counts preview={preview} />
      <FoundInVersions preview={preview} />
      {preview.groupCount === 0 ? <p>No node would get anything else.</p> : <Groups {...props} />}
    </>
  );
}

/** What is found in the versions that the changes publish. */
function FoundInVersions({ preview: { findings: versions } }: { preview: Preview }) {
  return versions
    .filter(({ findings }) => findings.length > 0)
    .map(({ configurationName, compositeName, version, findings }) => (
      <div key={`${configurationName} ${compositeName} ${version}`} class="part">
        <p>
          In {configurationName ?? compositeName} {version}:
        </p>
        <Faults faults={findings} />
      </div>
    ));
}

function Counts({ preview: { counts, completedAt, expiresAt } }: { preview: Preview }) {
  return (
    <>
      <dl class="impact-figures">
        <Figure label="Nodes" value={counts.nodes} />
        <Figure label="Changed" value={counts.changed} />
        <Figure label="Unchanged" value={counts.unchanged} />
        <Figure label="Unresolvable" value={counts.unresolvable} isBad={counts.unresolvable > 0} />
        <Figure label="Not visible" value={counts.notVisible} />
      </dl>
      {counts.notVisible > 0 && (
        <p class="hint">
          Nodes that are not visible get something that you may not read. They are in no other figure.
        </p>
      )}
      <p class="hint">
        Made <Time at={completedAt} />. It shows what was so then, and ends <Time at={expiresAt} />.
      </p>
    </>
  );
}

interface FigureProps {
  label: ComponentChildren;
  value: number;
  isBad?: boolean;
}

function Figure({ label, value, isBad = false }: FigureProps) {
  return (
    <div class={isBad ? 'bad' : ''}>
      <dt>{label}</dt>
      <dd>
        <Num value={value} />
      </dd>
    </div>
  );
}
