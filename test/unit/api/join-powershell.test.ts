// full: SQLite
import { expect } from 'chai';
import fc from 'fast-check';
import type { JoinFacts } from '../../../src/api/registration-keys/join-facts.ts';
import { powershellJoin, quoted } from '../../../src/api/registration-keys/join-powershell.ts';
import { openPowerShell, type PowerShell } from '../../support/powershell.ts';

const TRUST = 'ab'.repeat(32);
const GIVEN: JoinFacts = {
  server: 'https://hawser.example.org:8443',
  trust: TRUST,
  digest: '',
  note: null,
  signers: null,
};
const KEY = 'reg_Yl0sT4mWq7ZkPz2vH8nRc5dXbA1eFgJ3uTiOoLyQm6s';
/** A line that is pasted into a console without PSReadLine is cut after so many characters. */
const LONGEST = 8_191;

/** What both Windows PowerShell 5.1 and PowerShell 7 have on Windows. */
const IN_BOTH = [
  ...['ConvertFrom-Json', 'Get-Command', 'Get-Service', 'Join-Path', 'Move-Item', 'New-Item', 'New-Object'],
  ...['Remove-Item', 'Set-Service', 'Set-StrictMode', 'Start-Service', 'Start-Sleep', 'Stop-Service'],
  ...['Test-Path', 'Write-Output', 'Write-Warning', 'icacls.exe'],
];

/** What the agent of OpenDSC reads of its settings (LcmConfig.cs of commit 58fee1b). */
const LCM_MEMBERS = [
  ...['ConfigurationMode', 'ConfigurationSource', 'ConfigurationPath', 'ConfigurationModeInterval'],
  ...['DscExecutablePath', 'PullServer'],
];
const PULL_SERVER_MEMBERS = [
  ...['ServerUrl', 'NodeId', 'CertificateSource', 'CertificateThumbprint', 'CertificatePath'],
  ...['CertificatePassword', 'CertificateRotationInterval', 'RegistrationKey', 'ConfigurationChecksum'],
  ...['ConfigurationEntryPoint', 'ConfigurationParametersFile', 'LocalContentHash', 'ReportCompliance'],
];

const HOSTILE = [
  ...[
    "it's",
    "''",
    "'; Remove-Item C:\\ -Recurse; '",
    '"',
    '`',
    '$env:PATH',
    '$(calc)',
    '@{',
    '#',
    '<#',
    '--%',
  ],
  ...[
    '\u2018',
    '\u2019',
    '\u201a',
    '\u201b',
    '\u201c\u201d\u201e',
    '\u2013',
    '\u00a0',
    'a\nb',
    '\r\n',
    "\n'@\n",
  ],
  ...['\0', '\u{1f680}', '\ud800', '', ' ', 'https://\u2019;calc;\u2018.example.org'],
];

describe("the line that sets up OpenDSC's agent", () => {
  let read: (text: string) => PowerShell;
  before(async () => {
    read = await openPowerShell();
  });

  const both = (given: Partial<JoinFacts> = {}, key = KEY) =>
    Object.entries(powershellJoin({ ...GIVEN, ...given }, key));

  it('is checked by a reader that knows what is whole, and what 5.1 does not have', () => {
    expect(read("& { if ($a) { Get-Item 'x' }; $b = 'it''s' }")).to.deep.equal({
      ...{ isWhole: true, commands: ['Get-Item'], chains: 0, texts: { $b: "it's" } },
    });
    for (const broken of ['if ($a) { ', "$a = 'b", '$a ?? 1', '$a = $b ? 1 : 2', '(]'])
      expect(read(broken).isWhole, broken).to.equal(false);
    expect(read('a && b || c').chains).to.equal(2);
  });

  for (const [name, text] of both()) {
    it(`is well formed as a ${name}, and calls only what 5.1 and 7 both have`, () => {
      const { isWhole, chains, commands } = read(text);
      expect({ isWhole, chains }).to.deep.equal({ isWhole: true, chains: 0 });
      expect(commands.filter((command) => !IN_BOTH.includes(command))).to.deep.equal([]);
      expect(text).to.match(/^[\x20-\x7e\n]+$/, 'Windows PowerShell takes a file for ANSI');
      expect(text).to.not.match(/SkipCertificateCheck|-Parallel|-AsHashtable|node(\.exe)? -/);
    });

    it(`writes as a ${name} what the agent of OpenDSC reads, for pull and without a node id`, () => {
      const settings = JSON.parse(read(text).texts['$settings'] ?? '');
      expect(settings).to.deep.equal({
        LCM: {
          ConfigurationSource: 'Pull',
          PullServer: { ServerUrl: GIVEN.server, RegistrationKey: KEY },
        },
      });
      expect(LCM_MEMBERS).to.include.members(Object.keys(settings.LCM));
      expect(PULL_SERVER_MEMBERS).to.include.members(Object.keys(settings.LCM.PullServer));
    });

    it(`does things as a ${name} in an order that does no harm`, () => {
      const steps = [
        ...[
          'IsInRole($admins)',
          '$old.NodeId',
          'Get-Service -Name OpenDscLcm',
          '$found -ne $trust',
          '$store.Add($ca)',
        ],
        ...[
          '& $protect $folder',
          '& $protect $new',
          'WriteAllText($new, $settings)',
          'Stop-Service',
          'Start-Service',
        ],
      ];
      const places = steps.map((step) => text.indexOf(step));
      expect(places).to.not.include(-1);
      expect(places).to.deep.equal([...places].sort((one, other) => one - other));
    });
  }

  it('is one line, which a console takes', () => {
    const { line } = powershellJoin({ ...GIVEN, note: 'x'.repeat(120) }, KEY);
    expect(line).to.not.match(/[\r\n]/);
    expect(line).to.have.length.below(LONGEST);
  });

  it('takes every value as a text, whatever is in it', () => {
    for (const hostile of HOSTILE)
      for (const [, text] of both({ server: hostile, trust: hostile, note: hostile }, hostile)) {
        const { isWhole, texts, commands } = read(text);
        expect(isWhole, hostile).to.equal(true);
        expect(texts).to.include({ $server: hostile, $trust: hostile, $note: hostile });
        expect(JSON.parse(texts['$settings'] ?? '').LCM.PullServer).to.deep.equal({
          ...{ ServerUrl: hostile, RegistrationKey: hostile },
        });
        expect(commands.filter((command) => !IN_BOTH.includes(command))).to.deep.equal([]);
      }
  });

  it('quotes any text in one line of ASCII, and has no quote in it that is not doubled', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const expression = quoted(text);
        expect(expression).to.match(/^[\x20-\x7e]+$/);
        expect(read(`$a = ${expression};`).texts['$a']).to.equal(text);
      }),
      { numRuns: 300 },
    );
  });
});
