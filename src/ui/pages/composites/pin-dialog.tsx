/** The dialog that pins a child to a version, or lets it follow again. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import type { CompositeItem } from '../../types.ts';
import { ChildVersionField, givenBy, typedOf } from './child-fields.tsx';

interface Props {
  item: CompositeItem;
  /** Of the child in the API. */
  path: string;
  /** That of the draft that is shown. */
  etag: string | null;
  /** The user may read the configuration, so its versions can be proposed. */
  isReadable: boolean;
  onClose: () => void;
}

export function PinDialog({ item, path, etag, isReadable, onClose }: Props) {
  const { childConfigurationName: name } = item;
  const [version, setVersion] = useState(typedOf(item));
  const run = async () => {
    const given = givenBy(version);
    const { activeVersion, majorVersion } = given;
    await send('PUT', path, given, { ifMatch: etag });
    if (activeVersion !== null) return `${name} stays at ${activeVersion} now.`;
    const ofMajor = majorVersion === null ? '' : ` of major ${majorVersion}`;
    return `${name} follows the highest published version${ofMajor} now.`;
  };
  return (
    <DeedDialog heading={`Version of ${name}`} deed="Change version" run={run} onClose={onClose}>
      {(problem) => (
        <ChildVersionField
          name={isReadable ? name : null}
          value={version}
          onInput={setVersion}
          problem={problem}
        />
      )}
    </DeedDialog>
  );
}
