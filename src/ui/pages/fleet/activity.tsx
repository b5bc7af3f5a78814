/** What has happened last to the things that the user may read. */

import { Empty } from '../../components/empty.tsx';
import { Part } from '../../components/page.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import type { Resource } from '../../resource.ts';
import type { ActivityEntry } from '../../types.ts';

/** The API gives so many at once at most. */
const MOST = 1_000;

export function ActivityTable({
  activity,
  onMore,
}: {
  activity: Resource<ActivityEntry[]>;
  onMore: () => void;
}) {
  return (
    <Part of={activity} heading="Activity">
      {(entries) => (
        <>
          <SimpleTable
            name="Activity"
            rows={entries}
            keyOf={({ id }) => id}
            none={
              <Empty>
                <p>Nothing has happened yet. What you and others change is listed here.</p>
              </Empty>
            }
            columns={[
              { label: 'Thing', isName: true, cell: (entry) => <Thing entry={entry} /> },
              { label: 'What', isLong: true, cell: (entry) => <What entry={entry} /> },
              { label: 'Who', cell: ({ actorName }) => actorName ?? <span class="muted">the node</span> },
              { label: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
            ]}
          />
          {entries.length >= 20 && entries.length < MOST && (
            <p>
              <button type="button" onClick={onMore}>
                Show more
              </button>
            </p>
          )}
        </>
      )}
    </Part>
  );
}

/** What was done, with a link to the change set that did it. */
function What({ entry: { summary, changeSetId } }: { entry: ActivityEntry }) {
  if (changeSetId === null) return summary;
  const words = `by change set ${changeSetId}`;
  return (
    <>
      {summary.replace(`, ${words}`, '')}, <a href={links.changeSet(changeSetId)}>{words}</a>
    </>
  );
}

function Thing({ entry: { resourceType, resourceId, resourceName } }: { entry: ActivityEntry }) {
  const name = /changeset/i.test(resourceType) ? `Change ${resourceId}` : (resourceName ?? resourceId);
  const href = addressOf(resourceType, resourceId, resourceName);
  return href === null ? <span>{name}</span> : <a href={href}>{name}</a>;
}

function addressOf(type: string, id: string, name: string | null): string | null {
  if (/node/i.test(type)) return links.node(id);
  if (/changeset/i.test(type)) return links.changeSet(Number(id));
  if (name === null) return null;
  if (/composite/i.test(type)) return links.named('composites', name);
  return /parameter/i.test(type) ? links.parameters(name) : links.named('configurations', name);
}
