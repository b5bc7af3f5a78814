/** The values of a node's parameters, and who set each of them. */

import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { Filters } from '../../components/filters.tsx';
import { Mark } from '../../components/marks.tsx';
import { Dots, RevealButton } from '../../components/secret.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { usePages } from '../../list.ts';
import { useResource } from '../../resource.ts';
import { REDACTED } from '../../sealed.ts';
import { can } from '../../session.ts';
import type { Provenance, Resolution, ScopeType } from '../../types.ts';
import { scopeText } from './scope-text.ts';

type Leaf = Provenance['provenance'][string];
type Overridden = Leaf['overriddenValues'][number];

interface Row {
  path: string;
  leaf: Leaf;
  faults: Provenance['problems'];
}

/** Those with problems stand first; otherwise the order is that of the document. */
function rowsOf({ provenance, problems }: Provenance): Row[] {
  const rows = Object.entries(provenance).map(([path, leaf]) => ({
    path,
    leaf,
    faults: problems.filter((problem) => problem.path === path || problem.path.startsWith(`${path}/`)),
  }));
  const isFaulty = ({ faults }: Row) => faults.length > 0;
  return [...rows.filter(isFaulty), ...rows.filter((row) => !isFaulty(row))];
}

const FILTERS = [
  { name: 'path', label: 'Path' },
  { name: 'scope', label: 'Scope' },
  { name: 'overridden', label: 'Overridden', kind: 'flag' },
] as const;

function meets({ path, leaf }: Row, query: Readonly<Record<string, string>>): boolean {
  const has = (text: string, part = '') => text.toLowerCase().includes(part.toLowerCase());
  const isWanted = query['overridden'] !== 'true' || leaf.overriddenValues.length > 0;
  return isWanted && has(path, query['path']) && has(scopeText(leaf), query['scope']);
}

interface TableProps {
  /** The configuration whose parameters these are. */
  name: string;
  explained: Provenance;
  /** Which version each scope gives; null while it is not known. */
  resolved: Resolution | null;
}

export function LeavesTable({ name, explained, resolved }: TableProps) {
  const rows = useMemo(() => rowsOf(explained), [explained]);
  // They are needed for the button alone, which is there only for those who may see secrets.
  const path = can('secrets.reveal') ? '/scope-types?take=1000' : null;
  const types = useResource<ScopeType[]>(path, { poll: false });
  const versionOf: VersionOf = (given) => {
    const id = types.data?.find(({ name }) => name === given.scopeTypeName)?.id;
    const version = resolved?.scopes.find((scope) => scopeText(scope) === scopeText(given))?.resolvedVersion;
    return id && version
      ? apiPath('parameters', id, explained.configurationId, 'versions', version)
      : undefined;
  };
  const list = usePages(
    rows,
    FILTERS.map((filter) => filter.name),
    meets,
  );
  return (
    <>
      {rows.length > 0 && <Filters list={list} fields={FILTERS} />}
      <DataTable
        name="Parameters"
        list={list}
        columns={columnsOf(name, versionOf)}
        keyOf={({ path }) => path}
        none={
          <p class="empty">
            {rows.length === 0
              ? 'No scope sets a parameter for this node.'
              : 'No parameter meets these filters.'}
          </p>
        }
      />
    </>
  );
}

/** The address in the API of the version that gives a value; undefined while it is not known. */
type VersionOf = (given: Leaf | Overridden) => string | undefined;

function columnsOf(name: string, versionOf: VersionOf): Column<Row>[] {
  return [
    {
      label: 'Path',
      isName: true,
      isLong: true,
      cell: ({ path, leaf }) => (
        <a href={links.parameterFile(name, { ...leaf, version: leaf.resolvedVersion })}>
          <PathText path={path} />
        </a>
      ),
    },
    { label: 'Value', isLong: true, cell: (row) => <ValueCell {...{ row, versionOf }} /> },
    { label: 'Scope', cell: ({ leaf }) => scopeText(leaf) },
    {
      label: 'Version',
      cell: ({ leaf: { resolvedVersion, isPrerelease } }) => (
        <>
          {resolvedVersion} {isPrerelease && <span class="muted">prerelease</span>}
        </>
      ),
    },
    { label: 'Who', cell: ({ leaf }) => leaf.author },
    { label: 'When', cell: ({ leaf }) => <Time at={leaf.committedAt} /> },
  ];
}

/** A long path breaks before its names, not within them. */
function PathText({ path }: { path: string }) {
  return (
    <code>
      {path.split(/(?=\/)/).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  );
}

function ValueCell({ row: { path, leaf, faults }, versionOf }: { row: Row; versionOf: VersionOf }) {
  const { overriddenValues, mergedFrom, text } = leaf;
  // The nearest ones are those that the value is made of, beside the one that it is shown for.
  const joined = Math.max(0, (mergedFrom?.length ?? 0) - 1);
  return (
    <div class="leaf">
      <GivenValue given={leaf} {...{ path, versionOf }} />
      {faults.map(({ message, code }) => (
        <Mark key={`${code} ${message}`} word={code} tone="bad">
          {message}
        </Mark>
      ))}
      {text !== null && (
        <div class="muted">
          Written as <code>{JSON.stringify(text)}</code>
        </div>
      )}
      {overriddenValues.length > 0 && (
        <details>
          <summary>
            {overriddenValues.length} {joined > 0 ? 'lower' : 'overridden'}{' '}
            {overriddenValues.length === 1 ? 'value' : 'values'}
          </summary>
          <ul>
            {overriddenValues.map((one, at) => (
              <li key={scopeText(one)}>
                <span class="muted">
                  {scopeText(one)}
                  {at < joined && ', joined'}:
                </span>{' '}
                <GivenValue given={one} of={scopeText(one)} {...{ path, versionOf }} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

interface GivenProps {
  given: Leaf | Overridden;
  path: string;
  /** The scope, of a value that is overridden. */
  of?: string;
  versionOf: VersionOf;
}

/** A value as a scope gives it. A secret can be revealed by those who may see it. */
function GivenValue({ given, path, of, versionOf }: GivenProps) {
  const version = given.value === REDACTED ? versionOf(given) : undefined;
  return (
    <span class="secret-deeds">
      <Value value={given.value} />
      {version !== undefined && (
        <RevealButton
          {...{ version, scopeValue: given.scopeValue, pointer: path }}
          {...(of !== undefined && { of })}
        />
      )}
    </span>
  );
}

/** Longer values are folded. */
const LONG = 400;

/** A value as JSON writes it, so that a text is told from a number. What the server hides is said to be hidden. */
export function Value({ value }: { value: unknown }) {
  if (value === REDACTED) return <Dots />;
  const text = JSON.stringify(value);
  if (text.length <= LONG) return <code>{text}</code>;
  return (
    <details>
      <summary>
        <code>{text.slice(0, 80)}…</code>
      </summary>
      <code>{text}</code>
    </details>
  );
}
