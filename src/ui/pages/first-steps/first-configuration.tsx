/** Publishes the first version of a configuration: one of the examples, or files of one's own. */

import { useState } from 'preact/hooks';
import { type ChosenFile, formOf } from '../../chosen-files.ts';
import { ApiProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, RadioField } from '../../components/field.tsx';
import { FilesField } from '../../components/files-field.tsx';
import { apiOf, links } from '../../links.ts';
import { usePlace } from '../../router.ts';
import { EXAMPLES, type Example, SYSTEMS, type System } from './examples.ts';

const VERSION = '1.0.0';
const ENTRY_POINT = 'main.dsc.yaml';
const OWN = 'Upload my own';

/** It leads to the review of the draft where the server finds something wrong with it. */
export function FirstConfiguration({ onClose }: { onClose: () => void }) {
  const place = usePlace();
  const [label, setLabel] = useState(EXAMPLES[0]?.label ?? OWN);
  const [system, setSystem] = useState<System>(navigator.userAgent.includes('Windows') ? 'Windows' : 'Linux');
  const [typed, setName] = useState<string | null>(null);
  const [files, setFiles] = useState<ChosenFile[]>([]);
  const [entryPoint, setEntryPoint] = useState(ENTRY_POINT);
  const example = EXAMPLES.find((one) => one.label === label);
  const name = typed ?? example?.name ?? '';
  const run = async () => {
    const fields = { name, version: VERSION, entryPoint: example ? ENTRY_POINT : entryPoint };
    const { body, type } = formOf(fields, example ? [fileOf(example, system)] : files);
    await send('POST', '/configurations', body, { type });
    try {
      await send('PUT', apiOf('configurations', name, 'versions', VERSION, 'publish'), {});
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      place.go(links.review('configurations', name, VERSION));
      return `${name} ${VERSION} is a draft, and is not published yet: ${error.detail}`;
    }
    return `${name} ${VERSION} is published.`;
  };
  return (
    <DeedDialog
      heading="First configuration"
      deed={`Publish ${VERSION}`}
      run={run}
      onClose={onClose}
      isWide
      isDisabled={example === undefined && files.length === 0}
    >
      {(problem) => (
        <>
          <RadioField
            legend="Begin with"
            choices={alike([...EXAMPLES.map((one) => one.label), OWN])}
            value={label}
            onChange={setLabel}
          />
          {example === undefined ? (
            <>
              <FilesField files={files} onChange={setFiles} hint="At least the entry point is needed." />
              <Field
                {...{ label: 'Entry point', name: 'entryPoint', value: entryPoint, problem }}
                onInput={setEntryPoint}
                required
              />
            </>
          ) : (
            <ExamplePart example={example} system={system} onSystem={setSystem} />
          )}
          <Field
            {...{ label: 'Name', name: 'name', value: name, onInput: setName, problem }}
            required
            hint="Letters, digits, dots, underscores and hyphens."
          />
        </>
      )}
    </DeedDialog>
  );
}

interface ExampleProps {
  example: Example;
  system: System;
  onSystem: (system: System) => void;
}

function ExamplePart({ example, system, onSystem }: ExampleProps) {
  return (
    <>
      <RadioField legend="For machines with" choices={alike(SYSTEMS)} value={system} onChange={onSystem} />
      <p>{example.about[system]}</p>
      <details>
        <summary>Show the document</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, which must be possible by the keyboard */}
        <section class="raw" aria-label={ENTRY_POINT} tabIndex={0}>
          <pre>{example.documents[system]}</pre>
        </section>
      </details>
    </>
  );
}

/** Choices that are shown by their own values. */
const alike = <T extends string>(values: readonly T[]) => values.map((value) => ({ value, label: value }));

function fileOf({ documents }: Example, system: System): ChosenFile {
  return {
    path: ENTRY_POINT,
    file: new File([documents[system]], ENTRY_POINT, { type: 'application/yaml' }),
  };
}
