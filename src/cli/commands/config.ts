/** `hawserctl config`: configurations and their versions. */

import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { check } from './config-check.ts';
import { versionDeeds } from './config-deeds.ts';
import { diff } from './config-diff.ts';
import { linesOfFindings } from './config-findings.ts';
import { CONFIGURATION } from './config-kinds.ts';
import { listCommand } from './config-list.ts';
import { previewCommand } from './config-preview.ts';
import { pull } from './config-pull.ts';
import { push } from './config-push.ts';
import { sign } from './config-sign.ts';
import { grantCommands } from './grants.ts';

const show = command({
  path: 'config show',
  summary: 'show a configuration and its versions, or one version and its files',
  arguments: [
    { name: 'name', summary: 'the configuration' },
    { name: 'version', summary: 'the version, such as 1.2.0', isOptional: true },
  ],
  examples: ['hawserctl config show web', 'hawserctl config show web 1.2.0'],
  async run({ api, out, arguments: { name, version } }) {
    if (version !== undefined) {
      const found = await api.get('/api/v1/configurations/{name}/versions/{version}', {
        path: { name, version },
      });
      out.answer(found, () => showVersion(name, found, out));
      return;
    }
    const found = await api.get('/api/v1/configurations/{name}', { path: { name } });
    if (out.isJson) return out.json(found);
    showConfiguration(found, out);
    const versions = await api.all('/api/v1/configurations/{name}/versions', { path: { name } });
    out.text('');
    out.table(
      versions,
      [
        { title: 'VERSION', cell: (each) => each.version },
        { title: 'STATUS', cell: ({ status, withdrawn }) => (withdrawn ? 'Withdrawn' : status) },
        { title: 'FILES', cell: ({ fileCount }) => fileCount },
        { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
        { title: 'BY', cell: ({ createdBy }) => createdBy },
        { title: 'PUBLISHED', cell: ({ publishedAt }) => dateTime(publishedAt) },
      ],
      'It has no versions.',
    );
  },
});

function showConfiguration(found: Schemas['Configuration'], out: Context['out']): void {
  out.fields({
    Name: found.name,
    Description: found.description,
    'Published version': found.latestPublishedVersion,
    'Highest version': found.latestVersion,
    'Server-managed parameters': found.useServerManagedParameters,
    'Your access': found.access,
    Created: dateTime(found.createdAt),
    Changed: dateTime(found.updatedAt),
  });
}

function showVersion(name: string, found: Schemas['ConfigurationVersionDetails'], out: Context['out']): void {
  out.fields({
    Version: found.version,
    Status: found.withdrawn ? `Withdrawn: ${found.withdrawn.reason}` : found.status,
    'Entry point': found.entryPoint,
    Channel: found.prereleaseChannel,
    Message: found.message,
    Created: `${dateTime(found.createdAt)} by ${found.createdBy ?? 'nobody known'}`,
    Published:
      found.publishedAt && `${dateTime(found.publishedAt)} by ${found.publishedBy ?? 'nobody known'}`,
    Commit: found.commit,
  });
  out.text('');
  out.table(
    found.files,
    [
      { title: 'FILE', cell: ({ path }) => path },
      { title: 'BYTES', cell: ({ size }) => size },
      { title: 'SHA-256', cell: ({ checksum }) => checksum },
    ],
    'It has no files.',
  );
  for (const line of linesOfFindings(CONFIGURATION, name, found)) out.text(line);
}

export const CONFIG_COMMANDS = [
  ...[listCommand(CONFIGURATION), show, check, push, pull, diff, sign],
  previewCommand(CONFIGURATION),
  ...versionDeeds(CONFIGURATION),
  ...grantCommands(CONFIGURATION),
];
