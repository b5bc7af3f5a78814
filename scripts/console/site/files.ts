/** The files of the seeded configurations: what their versions hold, and what changes from one to the next. */

/** Maps a path to its content. */
export type Files = Record<string, string | Buffer>;

export interface SeedVersion {
  version: string;
  message: string;
  files: Files;
}

const SCHEMA = '$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json';

/** One picture element, so that the versions hold a binary file. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const parametersOfMajor1 = (workers: number, more: string[] = []) => [
  'parameters:',
  '  port:',
  '    type: int',
  '    description: The port on which the web server listens.',
  '    minValue: 1',
  '    maxValue: 65535',
  '    defaultValue: 80',
  '  environment:',
  '    type: string',
  '    allowedValues: [prod, test]',
  '    defaultValue: test',
  '  workers:',
  '    type: int',
  '    minValue: 1',
  `    defaultValue: ${workers}`,
  '  adminPassword:',
  '    type: secureString',
  '    description: The password of the status page.',
  '    minLength: 12',
  ...more,
];

const parametersOfMajor2 = (more: string[] = []) => [
  'parameters:',
  '  port:',
  '    type: int',
  '    description: The port on which the web server listens.',
  '    minValue: 1',
  '    maxValue: 65535',
  '    defaultValue: 443',
  '  environment:',
  '    type: string',
  '    description: Where the machine works. It decides which checks run.',
  '    allowedValues: [prod, test]',
  '  workers:',
  '    type: int',
  '    minValue: 1',
  '    maxValue: 64',
  '    defaultValue: 4',
  '  compression:',
  '    type: string',
  '    allowedValues: [none, gzip, brotli]',
  '    defaultValue: gzip',
  '  logLevel:',
  '    type: string',
  '    allowedValues: [debug, info, warning, error]',
  '    defaultValue: info',
  '  certificate:',
  '    type: string',
  '    description: The file of the certificate. Each region has its own.',
  '  tls:',
  '    type: object',
  '    description: The oldest version of TLS, and the ciphers.',
  '    defaultValue: {}',
  '  motd:',
  '    type: string',
  '    maxLength: 400',
  '    defaultValue: ""',
  '  adminPassword:',
  '    type: secureString',
  '    description: The password of the status page.',
  '    minLength: 12',
  ...more,
];

const RATE_LIMIT = [
  '  rateLimit:',
  '    type: int',
  '    description: Requests that one address may send in a second.',
  '    minValue: 1',
  '    maxValue: 10000',
  '    defaultValue: 100',
];

const shopMain = (parameters: string[], more: string[] = []) =>
  [
    SCHEMA,
    ...parameters,
    'resources:',
    '  - name: operating system',
    '    type: Microsoft/OSInfo',
    '    properties:',
    '      family: Linux',
    '  - name: nginx',
    '    type: Microsoft.DSC/Include',
    '    properties:',
    '      configurationFile: /opt/shop/modules/nginx.dsc.yaml',
    '  - name: firewall',
    '    type: Microsoft.DSC.Transitional/RunCommandOnSet',
    '    properties:',
    '      executable: bash',
    '      arguments: [scripts/open-port.sh, "[parameters(\'port\')]"]',
    ...more,
    '',
  ].join('\n');

const nginx = (version: string) =>
  [
    SCHEMA,
    'resources:',
    '  - name: package',
    '    type: DSC.PackageManagement/Apt',
    `    properties: {packageName: nginx, version: "${version}", _exist: true}`,
    '  - name: service',
    '    type: OpenDsc.Linux/Service',
    '    properties: {name: nginx, startType: Automatic, status: Running}',
    '',
  ].join('\n');

const openPort = (tool: string) =>
  ['#!/usr/bin/env bash', 'set -euo pipefail', `${tool} "$1"`, 'echo "port $1 is open"', ''].join('\n');

const limits = (timeout: number, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ maxBodySize: '10m', timeoutSeconds: timeout, keepAlive: true, ...more }, null, 2)}\n`;

const shopFiles = (main: string, more: Files = {}): Files => ({
  'main.dsc.yaml': main,
  'modules/nginx.dsc.yaml': nginx('1.26'),
  'scripts/open-port.sh': openPort('ufw allow'),
  'settings/limits.json': limits(30),
  'assets/logo.png': LOGO,
  'docs/notes.md': '# Web servers\n\nThey serve the shop and its pictures.\n',
  ...more,
});

/** The versions of `shop` that are published one after the other. The last one is published when nodes run already. */
export const SHOP_VERSIONS: readonly SeedVersion[] = [
  { version: '1.0.0', message: 'The first web servers.', files: shopFiles(shopMain(parametersOfMajor1(2))) },
  {
    version: '1.1.0',
    message: 'Pages are compressed.',
    files: shopFiles(
      shopMain(parametersOfMajor1(2, ['  gzip:', '    type: bool', '    defaultValue: true'])),
    ),
  },
  {
    version: '1.2.0',
    message: 'More workers for the sale.',
    files: shopFiles(
      shopMain(parametersOfMajor1(32, ['  gzip:', '    type: bool', '    defaultValue: true'])),
      {
        'settings/limits.json': limits(60),
      },
    ),
  },
  {
    version: '2.0.0',
    message: 'TLS everywhere. Each region has a certificate of its own.',
    files: shopFiles(shopMain(parametersOfMajor2()), { 'modules/nginx.dsc.yaml': nginx('1.28') }),
  },
  {
    version: '2.1.0',
    message: 'One address can no longer take all workers.',
    files: shopFiles(shopMain(parametersOfMajor2(RATE_LIMIT)), {
      'modules/nginx.dsc.yaml': nginx('1.28'),
      'settings/limits.json': limits(20, { requestsPerSecond: 100 }),
    }),
  },
];

export const SHOP_PRERELEASE: SeedVersion = {
  version: '2.2.0-beta.1',
  message: 'Logs are rotated every day.',
  files: shopFiles(shopMain(parametersOfMajor2(RATE_LIMIT)), {
    'modules/nginx.dsc.yaml': nginx('1.29'),
    'settings/limits.json': limits(20, { requestsPerSecond: 100 }),
    'modules/logs.dsc.yaml': `${SCHEMA}\nresources: []\n`,
  }),
};

/** What the draft 2.2.0 changes against 2.1.0: a changed, a new, a renamed, a removed and a binary file. */
export const SHOP_DRAFT: SeedVersion = {
  version: '2.2.0',
  message: 'The firewall is nftables. Logs are rotated every day.',
  files: {
    'main.dsc.yaml': shopMain(parametersOfMajor2(RATE_LIMIT), [
      '  - name: logs',
      '    type: Microsoft.DSC/Include',
      '    properties:',
      '      configurationFile: /opt/shop/modules/logs.dsc.yaml',
    ]),
    'modules/nginx.dsc.yaml': nginx('1.29'),
    'modules/logs.dsc.yaml': `${SCHEMA}\nresources:\n  - name: rotate\n    type: OpenDsc.Linux/Timer\n    properties: {name: logrotate, enabled: true}\n`,
    'scripts/open-port.sh': openPort('nft add element inet filter open_ports'),
    'settings/limits.json': limits(20, { requestsPerSecond: 200 }),
    'assets/logo.png': Buffer.concat([LOGO, Buffer.alloc(64, 7)]),
    'docs/web-servers.md': '# Web servers\n\nThey serve the shop and its pictures.\n',
  },
};

const database = (memory: string, isTuned: boolean): Files => ({
  'main.dsc.yaml': [
    SCHEMA,
    'parameters:',
    '  memory:',
    '    type: string',
    `    defaultValue: ${memory}`,
    ...(isTuned ? ['  replicas:', '    type: int', '    minValue: 0', '    maxValue: 5'] : []),
    'resources:',
    '  - name: postgresql',
    '    type: OpenDsc.Linux/Service',
    '    properties: {name: postgresql, status: Running}',
    '',
  ].join('\n'),
  'postgresql.conf': `shared_buffers = ${memory}\nmax_connections = ${isTuned ? 200 : 100}\n`,
});

export const DATABASE_VERSIONS: readonly SeedVersion[] = [
  { version: '1.0.0', message: 'PostgreSQL with defaults.', files: database('1GB', false) },
  { version: '1.1.0', message: 'More memory.', files: database('4GB', false) },
  { version: '2.0.0', message: 'Replicas are counted.', files: database('4GB', true) },
];

const baseline = (checks: readonly [name: string, valueName: string][]): Files => ({
  'main.dsc.yaml': [
    '# What every machine must have, whatever else it does.',
    SCHEMA,
    'resources:',
    ...checks.flatMap(([name, valueName]) => [
      `  - name: ${name}`,
      '    type: Microsoft.Windows/Registry',
      '    metadata: {area: Network Access, severity: Critical}',
      '    properties:',
      '      keyPath: HKLM\\SYSTEM\\CurrentControlSet\\Services',
      `      valueName: ${valueName}`,
      '      valueData: {DWord: 0}',
    ]),
    '',
  ].join('\n'),
});

const SMB = ['Disable SMBv1', 'SMB1'] as const;
const DRIVES = ['Scan removable drives', 'DisableRemovableDriveScanning'] as const;

export const BASELINE_VERSIONS: readonly SeedVersion[] = [
  { version: '1.0.0', message: 'The first baseline.', files: baseline([[...SMB]]) },
  { version: '1.0.1', message: 'Drives are scanned too.', files: baseline([[...SMB], [...DRIVES]]) },
  {
    version: '2.0.0-rc.1',
    message: 'A candidate of the next baseline.',
    files: baseline([[...SMB], [...DRIVES], ['Remote desktop port', 'PortNumber']]),
  },
];

const inventory = (resources: readonly string[]): Files => ({
  'main.dsc.json': `${JSON.stringify(
    {
      $schema: 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json',
      resources: resources.map((type) => ({ name: type.split('/')[1], type, properties: {} })),
    },
    null,
    2,
  )}\n`,
});

export const INVENTORY_VERSIONS: readonly SeedVersion[] = [
  { version: '1.0.0', message: 'The operating system.', files: inventory(['Microsoft/OSInfo']) },
  {
    version: '2.0.0',
    message: 'Packages are listed too.',
    files: inventory(['Microsoft/OSInfo', 'DSC.PackageManagement/Apt']),
  },
];
