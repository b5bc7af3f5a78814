/** `hawserctl config check`: what publishing would find in a folder, of which nothing is stored. */

import { isError, lineOfFinding } from '../../domain/findings.ts';
import { command } from '../declaration.ts';
import { EXIT, Failure } from '../errors.ts';
import { archiveOf, NAME, takeFolder } from './config-folder.ts';
import { noSuch, unlessMissing } from './config-kinds.ts';

export const check = command({
  path: 'config check',
  summary: 'see what is wrong with the document of a folder',
  description:
    'Sends the folder as push does, and stores nothing. Prints a line for each finding, with file, line and column. Exits ' +
    'with 1 where there is an error, which publishing would refuse, and with 0 where there are warnings alone or nothing.',
  arguments: [{ name: 'folder', summary: 'the folder with the files' }],
  options: {
    ...NAME,
    'entry-point': {
      value: 'PATH',
      summary: 'the file that nodes run; without it, that of the highest version',
    },
  },
  examples: ['hawserctl config check ./web', 'hawserctl config check . --name web'],
  async run(context) {
    const { api, out, options } = context;
    const { name, contents } = await takeFolder(context, context.arguments.folder);
    const fields = { entryPoint: options['entry-point'] };
    const form = { fields, files: [await archiveOf(name, contents)] };
    const found = await unlessMissing(
      api.post('/api/v1/configurations/{name}/check', { path: { name }, form }),
    );
    if (found === null)
      throw new Failure(
        `${noSuch('configuration', name)} Say its name by --name, or make it by "hawserctl config push --create".`,
      );
    out.answer(found, () => {
      for (const finding of found.findings) out.text(lineOfFinding(finding));
      if (found.findings.length === 0) out.note('Nothing is found wrong.');
    });
    return found.findings.some(isError) ? EXIT.failed : EXIT.done;
  },
});
