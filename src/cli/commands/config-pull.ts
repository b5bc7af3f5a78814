/** `hawserctl config pull`: writes the files of a version into a folder. */

import { resolve } from 'node:path';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { type Contents, sizeOf } from '../folder/contents.ts';
import { inspectTarget, type Target, writeContents } from '../folder/write-folder.ts';
import { counted } from '../values.ts';
import { checkVersion, highestVersion } from './config-kinds.ts';
import { downloadContents } from './config-push.ts';

export const pull = command({
  path: 'config pull',
  summary: 'write the files of a version into a folder',
  description:
    'Without a version it is the highest published one, else the highest draft. A new folder is there as soon as all ' +
    'files are in it. In a folder with files the same paths are written over after a question, and all else stays.',
  arguments: [
    { name: 'name', summary: 'the configuration' },
    { name: 'version-or-folder', summary: 'the version, such as 1.2.0, or the folder' },
    { name: 'folder', summary: 'the folder, new or empty', isOptional: true },
  ],
  options: { force: { summary: 'write into a folder that has files, without asking' } },
  examples: ['hawserctl config pull web ./web', 'hawserctl config pull web 1.2.0 ./web'],
  async run({ api, ask, out, cwd, arguments: given, options }) {
    const { name, folder = given['version-or-folder'] } = given;
    const asked = given.folder === undefined ? undefined : given['version-or-folder'];
    if (asked !== undefined) checkVersion(asked);
    else if (/^v?\d+\.\d+\.\d+/.test(folder))
      throw new UsageError(`"${folder}" looks like a version; say the folder behind it, or ./${folder}.`);
    const version = asked ?? (await highestVersion(api, name));
    const contents = await downloadContents(api, name, version);
    const target = await inspectTarget(resolve(cwd, folder), contents);
    if (target.hasOthers && !options.force) await askFor(target, ask);
    await writeContents(target, contents);
    const answer = { configurationName: name, version, folder: target.folder, files: summaryOf(contents) };
    out.answer(answer, () => {
      const size = `${counted(contents.length, 'file')}, ${counted(sizeOf(contents), 'byte')}`;
      out.text(`${name} ${version} is in ${target.folder}: ${size}.`);
      if (target.hasOthers) out.note('What else is in the folder stays, and would be part of a push.');
    });
  },
});

async function askFor({ folder, replaced }: Target, ask: Context['ask']): Promise<void> {
  const count = replaced.length === 0 ? 'None of them is' : `${counted(replaced.length, 'file')} would be`;
  const question = `${folder} has files. ${count} written over.`;
  if (!ask.canAsk)
    throw new UsageError(`${question} Nothing was written: there is no terminal to ask at, so say --force.`);
  await ask.confirm(`${question} Go on?`);
}

function summaryOf(contents: Contents): object[] {
  return contents.map(({ path, content, executable }) => ({ path, size: content.length, executable }));
}
