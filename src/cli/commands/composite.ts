/** `hawserctl composite`: composites and their versions. */

import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { childText } from './composite-children.ts';
import { diff } from './composite-diff.ts';
import { set } from './composite-set.ts';
import { versionDeeds } from './config-deeds.ts';
import { linesOfFindings } from './config-findings.ts';
import { COMPOSITE } from './config-kinds.ts';
import { listCommand } from './config-list.ts';
import { previewCommand } from './config-preview.ts';
import { grantCommands } from './grants.ts';

type Out = Context['out'];

const show = command({
  path: 'composite show',
  summary: 'show a composite and its versions, or one version and its children',
  arguments: [
    { name: 'name', summary: 'the composite' },
    { name: 'version', summary: 'the version, such as 1.2.0', isOptional: true },
  ],
  examples: ['hawserctl composite show site', 'hawserctl composite show site 1.2.0'],
  async run({ api, out, arguments: { name, version } }) {
    if (version !== undefined) {
      const found = await api.get('/api/v1/composite-configurations/{name}/versions/{version}', {
        path: { name, version },
      });
      out.answer(found, () => showVersion(name, found, out));
      return;
    }
    const found = await api.get('/api/v1/composite-configurations/{name}', { path: { name } });
    out.answer(found, () => showComposite(found, out));
  },
});

function showComposite(found: Schemas['CompositeDetails'], out: Out): void {
  out.fields({
    Name: found.name,
    Description: found.description,
    'Entry point': found.entryPoint,
    'Published version': found.latestPublishedVersion,
    'Highest version': found.latestVersion,
    'Your access': found.access,
    Created: dateTime(found.createdAt),
    Changed: dateTime(found.updatedAt),
  });
  out.text('');
  out.table(
    found.versions,
    [
      { title: 'VERSION', cell: ({ version }) => version },
      { title: 'STATUS', cell: ({ status, withdrawn }) => (withdrawn ? 'Withdrawn' : status) },
      {
        title: 'CHILDREN',
        cell: ({ items }) => items.map((item) => childText(item.childConfigurationName, item)).join(', '),
      },
      { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
      { title: 'BY', cell: ({ createdBy }) => createdBy },
      { title: 'PUBLISHED', cell: ({ publishedAt }) => dateTime(publishedAt) },
    ],
    'It has no versions.',
  );
}

function showVersion(name: string, found: Schemas['CompositeVersion'], out: Out): void {
  out.fields({
    Version: found.version,
    Status: found.withdrawn ? `Withdrawn: ${found.withdrawn.reason}` : found.status,
    Channel: found.prereleaseChannel,
    Message: found.message,
    Created: `${dateTime(found.createdAt)} by ${found.createdBy}`,
    Published:
      found.publishedAt && `${dateTime(found.publishedAt)} by ${found.publishedBy ?? 'nobody known'}`,
    Commit: found.commit,
  });
  out.text('');
  out.table(
    found.items,
    [
      { title: 'CHILD', cell: ({ childConfigurationName }) => childConfigurationName },
      { title: 'VERSION', cell: versionText },
      {
        title: 'NOTE',
        cell: ({ pinnedToWithdrawn }) => (pinnedToWithdrawn ? 'this version is withdrawn' : null),
      },
    ],
    'It has no children.',
  );
  for (const line of linesOfFindings(COMPOSITE, name, found)) out.text(line);
}

function versionText({ activeVersion, majorVersion }: Schemas['CompositeItem']): string {
  return activeVersion ?? `the highest published${majorVersion === null ? '' : ` of ${majorVersion}.x`}`;
}

export const COMPOSITE_COMMANDS = [
  listCommand(COMPOSITE),
  show,
  set,
  diff,
  previewCommand(COMPOSITE),
  ...versionDeeds(COMPOSITE),
  ...grantCommands(COMPOSITE),
];
