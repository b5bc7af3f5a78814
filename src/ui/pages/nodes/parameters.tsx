/** The parameters that a node gets: each value with its origin, what is wrong with them, and the order of merging. */

import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import { useResource, useResources } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { NodeDetails, Provenance, Resolution } from '../../types.ts';
import { NodeFrame, useNode } from './frame.tsx';
import { LeavesTable } from './leaves.tsx';
import { type Part, type Parts, useParts } from './parts.ts';
import { scopeText } from './scope-text.ts';

const explanation = (id: string, what: string, { configurationId }: Part) =>
  withQuery(`/nodes${apiPath(id)}/parameters/${what}`, { configurationId });

/** The parts that the user may read, with what each scope gives them. */
function useResolutions(id: string, { parts }: Parts) {
  const readable = parts?.filter(({ mayReadParameters }) => mayReadParameters) ?? [];
  const resources = useResources<Resolution>(readable.map((part) => explanation(id, 'resolution', part)));
  return readable.map((part, at) => ({ part, resource: resources[at] }));
}

type Resolved = ReturnType<typeof useResolutions>;

/** The part that the address names; else the first one with problems, or the first one of all. */
function chosenOf(resolved: Resolved, configurationId: string | null): Resolved[number] | undefined {
  const named = resolved.find(({ part }) => part.configurationId === configurationId);
  if (named !== undefined || resolved.length < 2) return named ?? resolved[0];
  if (resolved.some(({ resource }) => resource?.state === 'loading')) return undefined;
  return resolved.find(({ resource }) => (resource?.data?.problems.length ?? 0) > 0) ?? resolved[0];
}

export function NodeParametersPage({ id }: { id: string }) {
  const node = useNode(id);
  const parts = useParts(node.data);
  const { query } = usePlace();
  const resolved = useResolutions(id, parts);
  const chosen = chosenOf(resolved, query.get('configurationId'));
  const explained = useResource<Provenance>(chosen ? explanation(id, 'provenance', chosen.part) : null);
  const isEmpty = node.data !== null && !parts.isBusy && resolved.length === 0;
  return (
    <NodeFrame
      id={id}
      tab="Parameters"
      node={node}
      of={chosen ? [explained, ...(chosen.resource ? [chosen.resource] : [])] : []}
      isBusy={parts.isBusy || (chosen === undefined && resolved.length > 0)}
      isEmpty={isEmpty}
    >
      {(shown) => (
        <>
          {isEmpty && <Nothing node={shown} />}
          <Children id={id} resolved={resolved} chosen={chosen} />
          {chosen && explained.data !== null && (
            <>
              <Problems explained={explained.data} />
              <LeavesTable
                key={chosen.part.name}
                name={chosen.part.name}
                explained={explained.data}
                resolved={chosen.resource?.data ?? null}
              />
              {chosen.resource?.data && (
                <MergeOrder name={chosen.part.name} resolved={chosen.resource.data} />
              )}
            </>
          )}
        </>
      )}
    </NodeFrame>
  );
}

function Nothing({ node: { assignment } }: { node: NodeDetails }) {
  const sentence =
    assignment === null
      ? 'Nothing is assigned to this node, so it gets no parameters.'
      : assignment.resolvedVersion === null
        ? 'No published version fits the assignment, so the node gets nothing.'
        : `You may not read the parameters of ${assignment.configurationName}. Ask somebody who manages it for the permission.`;
  return (
    <Empty>
      <p>{sentence}</p>
    </Empty>
  );
}

interface ChildrenProps {
  id: string;
  resolved: Resolved;
  chosen: Resolved[number] | undefined;
}

/** Of a composite the parameters of one child are shown at a time. */
function Children({ id, resolved, chosen }: ChildrenProps) {
  const children = resolved.filter(({ part }) => part.configurationId !== null);
  if (children.length === 0) return null;
  const labelOf = ({ part, resource }: Resolved[number]) => {
    const problems = resource?.data?.problems.length ?? 0;
    return problems === 0
      ? part.name
      : `${part.name} (${problems} ${problems === 1 ? 'problem' : 'problems'})`;
  };
  return (
    <Tabs
      label="Children of the composite"
      current={chosen ? labelOf(chosen) : ''}
      tabs={children.map((child) => ({
        href: withQuery(links.node(id, 'parameters'), { configurationId: child.part.configurationId }),
        label: labelOf(child),
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
