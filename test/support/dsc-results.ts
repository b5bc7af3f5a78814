/**
 * Output of `dsc config <operation>` as DSC v3 writes it: its members, its spelling, and its times with seven digits.
 */

interface Resource {
  name: string;
  type: string;
  result: unknown;
}

const context = (operation: string) => ({
  'Microsoft.DSC': {
    version: '3.1.0',
    operation,
    executionType: 'actual',
    startDatetime: '2026-11-20T09:08:00.3956866-07:00',
    endDatetime: '2026-11-20T09:08:01.1434475-07:00',
    duration: 'PT0.7477609S',
    securityContext: 'elevated',
  },
});

const output = (operation: string, results: readonly Resource[], hadErrors = false) => ({
  metadata: context(operation),
  results: results.map((resource) => ({
    metadata: { 'Microsoft.DSC': { duration: 'PT0.3204121S' } },
    ...resource,
  })),
  messages: hadErrors
    ? [
        {
          name: 'Web server',
          type: 'Microsoft.Windows/Service',
          message: 'Access is denied.',
          level: 'error',
        },
      ]
    : [],
  hadErrors,
});

/** A service as `dsc config test` reports it. */
export const testedService = (inDesiredState: boolean, name = 'Web server'): Resource => ({
  name,
  type: 'Microsoft.Windows/Service',
  result: {
    desiredState: { name: 'W3SVC', startType: 'Automatic', status: 'Running' },
    actualState: { name: 'W3SVC', startType: 'Automatic', status: inDesiredState ? 'Running' : 'Stopped' },
    inDesiredState,
    differingProperties: inDesiredState ? [] : ['status'],
  },
});

export const grouped = (name: string, members: readonly Resource[]): Resource => ({
  name,
  type: 'Microsoft.DSC/Group',
  result: members,
});

export const testOutput = (results: readonly Resource[], hadErrors = false) =>
  output('test', results, hadErrors);

export const setOutput = (hadErrors = false) =>
  output(
    'set',
    [
      {
        name: 'Web server',
        type: 'Microsoft.Windows/Service',
        result: {
          beforeState: { name: 'W3SVC', status: 'Stopped' },
          afterState: { name: 'W3SVC', status: 'Running' },
          changedProperties: ['status'],
        },
      },
    ],
    hadErrors,
  );

export const getOutput = () =>
  output('get', [
    {
      name: 'Operating system',
      type: 'Microsoft/OSInfo',
      result: { actualState: { family: 'Windows', version: '10.0.26100', bitness: '64' } },
    },
  ]);

/** An export has a document of the resources that were found, and no results. */
export const exportOutput = () => ({
  metadata: context('export'),
  messages: [],
  result: {
    $schema: 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json',
    resources: [{ type: 'Microsoft/OSInfo', name: 'OSInfo-0', properties: { family: 'Windows' } }],
  },
  hadErrors: false,
});
