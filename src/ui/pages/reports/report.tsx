/** One report: what is not as it should be comes first. */

import { useState } from 'preact/hooks';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Report } from '../../types.ts';
import { messagesOf, type ReportedResource, resourcesOf } from './resources.ts';
import { StateMark, Verdict } from './shared.tsx';

/** So many rows are drawn at once. */
const STEP = 200;

export function ReportPage({ id }: { id: string }) {
  // A report never changes.
  const report = useResource<Report>(`/reports${apiPath(id)}`, { poll: false });
  const crumbs = can('reports.read-all') ? [{ href: links.reports(), label: 'Reports' }] : [];
  return (
    <Page
      heading={id}
      of={[report]}
      crumbs={crumbs}
      beside={report.data !== null && <Verdict report={report.data} />}
    >
      {report.data !== null && <Content report={report.data} />}
    </Page>
  );
}

function Content({ report }: { report: Report }) {
  const { nodeId, nodeFqdn, timestamp, operation, configurationChecksum, checksumSource, result } = report;
  return (
    <>
      <dl class="facts">
        <dt>Node</dt>
        <dd>
          <a href={links.node(nodeId)}>{nodeFqdn}</a>
        </dd>
        <dt>Received</dt>
        <dd>
          <Time at={timestamp} exact />
        </dd>
        <dt>Operation</dt>
        <dd>{operation}</dd>
        <dt>Of checksum</dt>
        <dd>
          {configurationChecksum === null ? (
            <span class="muted">not known</span>
          ) : (
            <>
              <code>{configurationChecksum}</code> {checksumSource}
            </>
          )}
        </dd>
      </dl>
      <Resources result={result} />
      <Messages result={result} />
      <details>
        <summary>The report as it was sent</summary>
        <Raw value={result} />
      </details>
    </>
  );
}

function Resources({ result }: { result: unknown }) {
  const all = resourcesOf(result);
  const [shown, setShown] = useState(STEP);
  return (
    <section class="part">
      <h2>Resources</h2>
      <SimpleTable
        name="Resources"
        rows={all.slice(0, shown)}
        total={all.length}
        keyOf={({ key }) => key}
        none={<p class="muted">The report names no resource.</p>}
        columns={[
          { label: 'Name', isName: true, cell: ({ name }) => name },
          { label: 'Type', cell: ({ type }) => type },
          { label: 'State', cell: ({ isAsDesired }) => <StateMark isAsDesired={isAsDesired} /> },
          { label: 'What it says', isLong: true, cell: (resource) => <Said resource={resource} /> },
        ]}
      />
      {shown < all.length && (
        <p>
          <button type="button" onClick={() => setShown(shown + STEP)}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}

function Said({ resource: { properties, result, name } }: { resource: ReportedResource }) {
  return (
    <details>
      <summary>
        {properties.length === 0 ? 'Details' : `Differs: ${properties.join(', ')}`}
        <span class="visually-hidden"> ({name})</span>
      </summary>
      <Raw value={result} />
    </details>
  );
}

function Messages({ result }: { result: unknown }) {
  const messages = messagesOf(result);
  const [shown, setShown] = useState(STEP);
  if (messages.length === 0) return null;
  const rows = messages.map((message, index) => ({ ...message, key: String(index) }));
  return (
    <section class="part">
      <h2>Messages</h2>
      <SimpleTable
        name="Messages"
        rows={rows.slice(0, shown)}
        total={rows.length}
        keyOf={({ key }) => key}
        columns={[
          {
            label: 'Level',
            cell: ({ level }) => (
              <Mark
                word={level}
                tone={/error/i.test(level) ? 'bad' : /warn/i.test(level) ? 'warn' : 'info'}
              />
            ),
          },
          { label: 'Resource', cell: ({ name }) => name },
          { label: 'Message', isLong: true, cell: ({ message }) => message },
        ]}
      />
      {shown < rows.length && (
        <p>
          <button type="button" onClick={() => setShown(shown + STEP)}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}

/** A long text would hold up the browser; the API has all of it. */
const LONGEST = 200_000;

function Raw({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? '';
  return (
    <pre class="raw">
      {text.slice(0, LONGEST)}
      {text.length > LONGEST && '\n... The rest is in the answer of the API.'}
    </pre>
  );
}
