/** Uploads of many files in many folders. */

import { SECOND } from '../../../src/lib/clock.ts';
import { type Attack, ONE_REQUEST } from './attack.ts';
import { ENTRY_POINT, type Files, type Site } from './site.ts';

/**
 * More than the 64 segments that a path may have. A file in this many folders has nearly the longest path, which is
 * 1,024 bytes.
 */
const TOO_DEEP = 505;
const FOLDERS_BELOW = 59;

export const DEEP_FILES: Attack = {
  name: 'deep-upload',
  label: 'an upload of 205 files, 505 folders deep each',
  waitLimit: ONE_REQUEST,
  prepare: async (site) => () => upload(site, deepFiles(site.amount(205, 40))),
};

export const MANY_DEEP_FILES: Attack = {
  name: 'many-deep-upload',
  label: '1,990 of them, whose client goes after 5 s',
  waitLimit: ONE_REQUEST,
  prepare: async (site) => () => upload(site, deepFiles(site.amount(1_990, 400)), 5 * SECOND),
};

export const ALLOWED_DEPTH: Attack = {
  name: 'allowed-depth',
  label: 'an upload of 2,000 files, 60 folders deep, and its publishing',
  waitLimit: ONE_REQUEST,
  prepare: async (site) => () => upload(site, sharedFolders(site.amount(1_999, 300))),
};

export const MANY_FILES: Attack = {
  name: 'many-files',
  label: 'an upload of 20,000 files (HAWSER_UPLOAD_FILES=20000)',
  waitLimit: ONE_REQUEST,
  settings: { HAWSER_UPLOAD_FILES: '20000' },
  prepare: async (site) => () => upload(site, flatFiles(site.amount(19_999, 4_000))),
};

/** Uploads the files, and then downloads one of them and publishes the version. */
async function upload(site: Site, files: Files, leaveAfter?: number): Promise<void> {
  const { author } = site;
  const form = {
    fields: { name: 'tree', version: '1.0.0' },
    files: { [ENTRY_POINT]: '$schema: x\nresources: []\n', ...files },
  };
  const path = '/api/v1/configurations';
  const left = leaveAfter === undefined ? {} : { leaveAfter };
  const { status } = await author.ask({ method: 'POST', path, body: { form }, ...left });
  if (status !== 201) return;
  const [some = ''] = Object.keys(files);
  await author.ask({ method: 'GET', path: `${path}/tree/versions/1.0.0/files/${some}` });
  await author.ask({ method: 'PUT', path: `${path}/tree/versions/1.0.0/publish` });
}

/** Puts each file into folders of its own. */
function deepFiles(count: number): Files {
  const below = 'd/'.repeat(TOO_DEEP - 1);
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}/${below}f`, `${at}\n`]));
}

/** Makes 300 chains of 60 folders, which are 18,000 folders. */
function sharedFolders(count: number): Files {
  const below = 'd/'.repeat(FOLDERS_BELOW);
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${at % 300}/${below}${at}`, `${at}\n`]),
  );
}

function flatFiles(count: number): Files {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at % 200}/${at}`, `${at}\n`]));
}
