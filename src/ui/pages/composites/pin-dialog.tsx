/** The dialog that pins a child to a version, or lets it follow again. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import type { CompositeItem } from '../../types.ts';
import { ChildVersionField, pinOf } from './child-fields.tsx';

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
  const [version, setVersion] = useState(item.activeVersion ?? '');
  const run = async () => {
    const activeVersion = pinOf(version);
    await send('PUT', path, { activeVersion }, { ifMatch: etag });
    if (activeVersion === null) return `${name} follows the highest published version now.`;
    return `${name} stays at ${activeVersion} now.`;
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
