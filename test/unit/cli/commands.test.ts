import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { COMMANDS, GROUPS } from '../../../src/cli/commands.ts';
import type { Surroundings } from '../../../src/cli/context.ts';
import { runProgram } from '../../../src/cli/program.ts';

/** Reads a command line as the program does, and runs nothing. */
async function understand(words: readonly string[]) {
  const understood: { path: string; isJson: boolean }[] = [];
  const commands = COMMANDS.map((command) => ({
    ...command,
    run: async ({ out }: Parameters<typeof command.run>[0]) => {
      understood.push({ path: command.path, isJson: out.isJson });
      return 0;
    },
  }));
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const code = await runProgram(
    words,
    { env: {}, cwd: '/', ...(streams as object) } as Surroundings,
    commands,
  );
  return { code, understood, stdout: String(streams.stdout.read() ?? '') };
}

/** The words behind the name of the program, up to what the shell does with its output. */
function wordsOf(line: string): string[] {
  const [, command = ''] = /\bhawserctl ([^|<>)]*)/.exec(line) ?? [];
  return [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, ''));
}

describe('each command of hawserctl', () => {
  for (const { path, summary, options, examples = [] } of COMMANDS) {
    it(`"${path}" has examples, each of which it understands, with --json too`, async () => {
      expect(examples).to.not.be.empty;
      for (const example of examples) {
        const words = wordsOf(example);
        expect((await understand(words)).understood.map((each) => each.path)).to.deep.equal([path]);
        const withJson = await understand([...words, '--json']);
        expect(withJson).to.deep.include({ code: 0, understood: [{ path, isJson: true }] });
      }
    });

    it(`"${path}" has help with all its options, and stands in that of its group`, async () => {
      const words = path.split(' ');
      const long = await understand([...words, '--help']);
      expect(long).to.deep.include({ code: 0, understood: [] });
      expect(long.stdout).to.include(`Usage: hawserctl ${path} `);
      for (const name of [...Object.keys(options), 'json', 'help'])
        expect(long.stdout).to.include(`--${name}`);
      expect(await understand([...words, '-h'])).to.deep.equal(long);
      const group = await understand([...words.slice(0, -1), '--help']);
      expect(group.stdout.replace(/\s+/g, ' '))
        .to.include(` ${words.at(-1)} `)
        .and.include(summary);
    });
  }

  it('is in a group that says what it is about', () => {
    const groups = COMMANDS.map(({ path }) => path.split(' ')).filter((words) => words.length > 1);
    expect(Object.keys(GROUPS)).to.have.members([...new Set(groups.map(([first]) => first))]);
  });
});
