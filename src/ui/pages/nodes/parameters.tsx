/** The parameters that a node gets: each value with its origin, what is wrong with them, and the order of merging. */

import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { NodeDetails, Provenance, Resolution } from '../../types.ts';
import { NodeFrame, useNode } from './frame.tsx';
import { LeavesTable } from './leaves.tsx';
import { type Part, type Parts, useParts } from './parts.ts';
import { scopeText } from './scope-text.ts';

/** The part that the address names, else the first one. */
function chosenOf(parts: Parts['parts'], configurationId: string | null): Part | null {
  return parts?.find((part) => part.configurationId === configurationId) ?? parts?.[0] ?? null;
}

export function NodeParametersPage({ id }: { id: string }) {
  const node = useNode(id);
  const parts = useParts(node.data);
  const { query } = usePlace();
  const part = chosenOf(parts.parts, query.get('configurationId'));
  const isAsked = part?.mayReadParameters === true;
  const path = (what: string) =>
    isAsked
      ? withQuery(`/nodes${apiPath(id)}/parameters/${what}`, { configurationId: part.configurationId })
      : null;
  const explained = useResource<Provenance>(path('provenance'));
  const resolved = useResource<Resolution>(path('resolution'));
  return (
    <NodeFrame
      id={id}
      tab="Parameters"
      node={node}
      of={isAsked ? [explained, resolved] : []}
      isBusy={parts.isBusy}
      isEmpty={!isAsked}
    >
      {(shown) => (
        <>
          <Children id={id} parts={parts} part={part} />
          {part === null || !isAsked || explained.data === null ? (
            <Nothing node={shown} part={part} parts={parts} />
          ) : (
            <>
              <Problems explained={explained.data} />
              <LeavesTable key={part.name} name={part.name} explained={explained.data} />
              {resolved.data !== null && <MergeOrder name={part.name} resolved={resolved.data} />}
            </>
          )}
        </>
      )}
    </NodeFrame>
  );
}

function Nothing({
  node: { assignment },
  part,
  parts,
}: {
  node: NodeDetails;
  part: Part | null;
  parts: Parts;
}) {
  if (assignment === null)
    return (
      <Empty>
        <p>Nothing is assigned to this node, so it gets no parameters.</p>
      </Empty>
    );
  if (assignment.resolvedVersion === null)
    return (
      <Empty>
        <p>No published version fits the assignment, so the node gets nothing.</p>
      </Empty>
    );
  if (parts.isBusy) return null;
  return (
    <Empty>
      <p>
        You may not read the parameters of {part?.name ?? assignment.configurationName}. Ask somebody who
        manages it for the permission.
      </p>
    </Empty>
  );
}

/** Of a composite the parameters of one child are shown at a time. */
function Children({ id, parts, part }: { id: string; parts: Parts; part: Part | null }) {
  const children = parts.parts?.filter(({ configurationId }) => configurationId !== null) ?? [];
  if (children.length === 0) return null;
  return (
    <Tabs
      label="Children of the composite"
      current={part?.name ?? ''}
      tabs={children.map(({ name, configurationId }) => ({
        href: withQuery(links.node(id, 'parameters'), { configurationId }),
        label: name,
      }))}
    />
  );
}

function Problems({ explained: { problems } }: { explained: Provenance }) {
  if (problems.length === 0) return null;
  return (
    <section class="part">
      <h2>Problems</h2>
      <SimpleTable
        name="Problems"
        rows={problems}
        keyOf={({ path, code, message }) => `${path} ${code} ${message}`}
        columns={[
          {
            label: 'Path',
            isName: true,
            isLong: true,
            cell: ({ path }) => <code>{path === '' ? '/' : path}</code>,
          },
          {
            label: 'Problem',
            isLong: true,
            cell: ({ message, code }) => (
              <Mark word={code} tone="bad">
                {message}
              </Mark>
            ),
          },
          { label: 'Code', cell: ({ code }) => <code>{code}</code> },
        ]}
      />
    </section>
  );
}

function MergeOrder({ name, resolved: { scopes } }: { name: string; resolved: Resolution }) {
  return (
    <section class="part">
      <h2>Order of merging</h2>
      <p class="hint">A later scope wins over an earlier one.</p>
      <SimpleTable
        name="Order of merging"
        rows={scopes}
        keyOf={scopeText}
        columns={[
          { label: 'Scope', isName: true, cell: (scope) => scopeText(scope) },
          {
            label: 'Version',
            cell: ({ resolvedVersion, ...scope }) =>
              resolvedVersion === null ? (
                <span class="muted">none</span>
              ) : (
                <a href={links.parameterFile(name, { ...scope, version: resolvedVersion })}>
                  {resolvedVersion}
                </a>
              ),
          },
          { label: 'Notes', isLong: true, cell: (scope) => notesOf(scope).join(' ') },
        ]}
      />
    </section>
  );
}

function notesOf(scope: Resolution['scopes'][number]): string[] {
  return [
    ...(scope.noPublishedVersion ? ['It has no published file that fits.'] : []),
    ...(scope.isPassthrough ? ['It passes through: it sets nothing.'] : []),
    ...(scope.isFallback ? ['The file is of a lower major version than the configuration.'] : []),
    ...(scope.isPrerelease ? ['It is a prerelease.'] : []),
  ];
}
