import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../../scripts/support/project.ts';
import { FINDING_CODES } from '../../../src/domain/findings.ts';
import { SIGNATURE_FAULTS } from '../../../src/domain/signed-tag.ts';
import { problemsOf } from '../../../src/http/openapi/responses.ts';
import { PROBLEM_CODES } from '../../../src/http/problem-codes.ts';
import { declaredRoutes } from '../../support/routes.ts';
import { fieldCodesInSource, problemsInSource, serverSources } from '../../support/source-codes.ts';
import { words } from '../../support/words.ts';

/** In the reports of pushes alone. */
const OF_PUSHES = [
  ...['incomplete_push', 'invalid_committer', 'invalid_option', 'invalid_pack', 'lfs_pointer'],
  ...[
    'file_missing',
    'lightweight_tag',
    'main_follows',
    'one_version_per_push',
    'tag_name_mismatch',
    'unknown_ref',
  ],
];

/** Before the server listens, when its keys are read anew, or by commands of the operator: never an answer. */
const NEVER_ANSWERED = new Set([
  ...OF_PUSHES,
  ...['cannot_listen', 'invalid_tls_name', 'invalid_tls_setting', 'migration_failed', 'tls_files_damaged'],
  'newer_release_needed',
  ...['database_damaged', 'database_missing', 'folder_in_use'],
  ...['database_not_empty', 'database_of_other_release'],
]);

/** Before a route is found, for the log alone, or only by a defect of the server: no operation is to promise them. */
const OF_NO_ROUTE = [
  ...['malformed_request', 'header_too_large', 'request_timeout', 'method_not_allowed'],
  ...['client_gone', 'https_required', 'invalid_name', 'lock_returned'],
];

/** What zod itself says of our schemas. */
const OF_ZOD = words('invalid_type invalid_value invalid_format too_small too_big unrecognized_keys');

const PAGE = readFileSync(join(PROJECT, 'docs/troubleshooting.md'), 'utf8');

const catalogue = Object.entries(PROBLEM_CODES).flatMap(([code, { status }]) =>
  status.map((each) => `${code} ${each}`),
);

describe('the catalogue of problem codes', () => {
  const files = serverSources();

  it('has every code that the source gives an error, with its status, and no other', () => {
    const inSource = [...problemsInSource(files)].filter(
      (problem) => !NEVER_ANSWERED.has(problem.split(' ', 1)[0] ?? ''),
    );
    expect(catalogue.sort()).to.deep.equal(inSource.sort());
  });

  it('is described on the page of troubleshooting, code by code with the status', () => {
    const onPage = [...PAGE.matchAll(/^- \*\*`(\w+)`\*\* (\d{3}(?:, \d{3})*): /gm)].flatMap(
      ([, code, statuses = '']) => statuses.split(', ').map((status) => `${code} ${status}`),
    );
    expect(onPage.sort()).to.deep.equal(catalogue.sort());
  });

  it('leaves what only a push is refused with to a list of that page', () => {
    const [, list = ''] = PAGE.split(/^## Git clients$/m);
    const entries = Array.from(
      list.matchAll(/^- ((?:\*\*`\w+`\*\*(?:, )?)+): /gm),
      ([, codes = '']) => codes,
    );
    const onPage = entries.flatMap((codes) => codes.match(/\w+/g) ?? []);
    expect(onPage).to.include.members(OF_PUSHES);
  });

  it('has every problem that a route declares, and a route for every problem that a route can have', async () => {
    const routes = await declaredRoutes();
    const promised = new Set(routes.flatMap((route) => [...problemsOf(route).values()].flat()));
    expect([...promised, ...OF_NO_ROUTE].sort()).to.deep.equal(Object.keys(PROBLEM_CODES).sort());
  });
});

describe('the codes of single fields', () => {
  it('stand on the page of troubleshooting, and no others', () => {
    const [, table = ''] = PAGE.split(/^## Codes of single members$/m);
    const onPage = Array.from(table.matchAll(/^\| `(\w+)` \|/gm), ([, code]) => code);
    const known = new Set([
      ...fieldCodesInSource(serverSources()),
      ...OF_ZOD,
      ...FINDING_CODES,
      ...SIGNATURE_FAULTS,
    ]);
    expect(onPage.sort()).to.deep.equal([...known].sort());
  });
});
