import { expect } from 'chai';
import { UsageError } from '../../../src/lib/command-words.ts';
import { type Command, describeCommands, readCommandLine } from '../../../src/operations/command-line.ts';

const run = async () => 0;
const COMMANDS: readonly Command[] = [
  { name: 'serve', help: 'run', run },
  { name: 'pack', help: 'make one', positionals: ['file'], options: { quiet: null, level: 'number' }, run },
];

const read = (...words: string[]) => readCommandLine(COMMANDS, words);

describe('reading the command line', () => {
  it('takes the first command when there are no words', () => {
    expect(read()).to.deep.include({ kind: 'run', command: COMMANDS[0] });
  });

  it('gives a command its arguments and the options that were given', () => {
    const request = read('pack', '--level', '9', 'out.zip', '--quiet');
    const given = { positionals: ['out.zip'], options: { level: '9', quiet: true } };
    expect(request).to.deep.equal({ kind: 'run', command: COMMANDS[1], given });
  });

  it('leaves out the options that were not given', () => {
    expect(read('pack', 'out.zip')).to.have.nested.property('given.options').that.deep.equals({});
  });

  it('takes a name that begins with a hyphen after --', () => {
    expect(read('pack', '--', '-x')).to.have.deep.nested.property('given.positionals', ['-x']);
  });

  it('gives help rather than run a command that --help follows', () => {
    for (const words of [['help'], ['--help'], ['-h'], ['pack', '--help'], ['help', 'pack']])
      expect(read(...words), words.join(' ')).to.deep.equal({ kind: 'help' });
  });

  it('tells the version', () => expect(read('--version')).to.deep.equal({ kind: 'version' }));

  const wrong: [words: string[], said: string][] = [
    [['pakc'], 'unknown command "pakc"'],
    [['--port=80'], 'unknown option "--port=80"'],
    [['pack'], 'pack: <file> is missing'],
    [['pack', 'a', 'b'], 'pack: "b" is one argument too many'],
    [['pack', 'a', '--loud'], "pack: Unknown option '--loud'"],
    [['pack', 'a', '--level'], "pack: Option '--level <value>' argument missing"],
    [['pack', 'a', '--quiet=yes'], "pack: Option '--quiet' does not take an argument"],
    [['serve', 'now'], 'serve: "now" is one argument too many'],
  ];
  for (const [words, said] of wrong) {
    it(`refuses "${words.join(' ')}"`, () => {
      expect(() => read(...words))
        .to.throw(UsageError)
        .with.property('message', said);
    });
  }

  it('lists every command with its options and arguments', () => {
    const text = describeCommands(COMMANDS);
    expect(text).to.match(/^ {2}serve\n {6}run$/m);
    expect(text).to.match(/^ {2}pack \[--quiet\] \[--level <number>\] <file>\n {6}make one$/m);
  });
});
